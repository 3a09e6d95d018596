# Turns the part of #cloud-config that this guest knows (hostname, fqdn,
# ssh_authorized_keys, write_files, runcmd) into plain files below `out`.
# It reads the block style that people write and one-line [flow] lists; it is
# not a YAML parser.

function indent(line) {
    match(line, /^ */)
    return RLENGTH
}

function unquote(text) {
    sub(/^ +/, "", text)
    if (text ~ /^"/) {
        sub(/" *(#.*)?$/, "", text)
        text = substr(text, 2)
        gsub(/\\"/, "\"", text)
        gsub(/\\n/, "\n", text)
        gsub(/\\t/, "\t", text)
        gsub(/\\\\/, "\\", text)
    } else if (text ~ /^'/) {
        sub(/' *(#.*)?$/, "", text)
        text = substr(text, 2)
        gsub(/''/, "'", text)
    } else {
        sub(/ +#.*$/, "", text)
        sub(/ +$/, "", text)
    }
    return text
}

function shell_quote(text) {
    gsub(/'/, "'\\''", text)
    return "'" text "'"
}

# Splits "[a, 'b, c']" at the commas outside quotes into words[1..count].
function split_flow(text, words,    count, i, c, quote, word) {
    sub(/^ *\[/, "", text)
    sub(/\] *(#.*)?$/, "", text)
    count = 0
    for (i = 1; i <= length(text); i++) {
        c = substr(text, i, 1)
        if (quote != "") {
            if (c == quote) quote = ""
        } else if (c == "\"" || c == "'") {
            quote = c
        } else if (c == ",") {
            words[++count] = unquote(word)
            word = ""
            continue
        }
        word = word c
    }
    if (word !~ /^ *$/) words[++count] = unquote(word)
    return count
}

function put(file, text) {
    printf "%s", text > (out "/" file)
}

function take_key(text) {
    if (text ~ /^(ssh|ecdsa|sk)-/) put("keys", text "\n")
}

# One finished value of the current section: a list item, or a key of a file.
function take(key, text) {
    if (section == "runcmd") put("runcmd", text (text ~ /\n$/ ? "" : "\n"))
    else if (section == "ssh_authorized_keys") take_key(text)
    else if (section == "write_files" && file && key ~ /^(path|content|permissions|encoding)$/) {
        put("files/" file "/" key, text)
        close(out "/files/" file "/" key)
    }
}

function begin_block(key, style, parent) {
    in_block = 1
    block_key = key
    block_folds = style ~ /^>/
    block_strips = style ~ /-/
    block_parent = parent
    block_indent = -1
    block_text = ""
}

function end_block() {
    in_block = 0
    sub(/\n+$/, "\n", block_text)
    if (block_folds) {
        gsub(/\n/, " ", block_text)
        sub(/ $/, "\n", block_text)
    }
    if (block_strips) sub(/\n$/, "", block_text)
    take(block_key, block_text)
}

# A value that stands on the line of its dash or key, or that starts a block.
function take_value(key, text, parent,    words, count, i, command) {
    if (text ~ /^ *[|>][-+0-9]* *$/) {
        sub(/^ */, "", text)
        begin_block(key, text, parent)
    } else if (text ~ /^ *\[/) {
        count = split_flow(text, words)
        for (i = 1; i <= count; i++) command = command (i > 1 ? " " : "") shell_quote(words[i])
        take(key, command)
    } else {
        take(key, unquote(text))
    }
}

function take_pair(text, parent,    key) {
    match(text, /^[A-Za-z_-]+:/)
    key = substr(text, 1, RLENGTH - 1)
    take_value(key, substr(text, RLENGTH + 1), parent)
}

{ sub(/\r$/, "") }

in_block {
    if ($0 ~ /^ *$/) {
        block_text = block_text "\n"
        next
    }
    if (indent($0) > block_parent) {
        if (block_indent < 0) block_indent = indent($0)
        block_text = block_text substr($0, block_indent + 1) "\n"
        next
    }
    end_block()
}

/^ *(#|$)/ || /^---/ { next }

# A key of the document itself starts a new section.
/^[A-Za-z_-]+:/ {
    match($0, /^[A-Za-z_-]+:/)
    section = substr($0, 1, RLENGTH - 1)
    rest = substr($0, RLENGTH + 1)
    file = 0
    if (section == "hostname" || (section == "fqdn" && !named)) {
        put("hostname", "")
        close(out "/hostname")
        put("hostname", unquote(rest))
        close(out "/hostname")
        named = 1
    } else if (section == "ssh_authorized_keys" && rest ~ /\[/) {
        count = split_flow(rest, keys)
        for (i = 1; i <= count; i++) take_key(keys[i])
    }
    next
}

# Keys of a user count too: this guest has but one.
/^ +(- )?ssh_authorized_keys: *$/ {
    section = "ssh_authorized_keys"
    next
}

/^ *- / {
    column = indent($0)
    rest = substr($0, column + 3)
    if (section != "write_files") {
        take_value("", rest, column)
    } else {
        file = ++files
        system("mkdir -p " shell_quote(out "/files/" file))
        sub(/^ */, "", rest)
        take_pair(rest, column + 2)
    }
    next
}

section == "write_files" && /^ +[A-Za-z_-]+:/ {
    column = indent($0)
    take_pair(substr($0, column + 1), column)
}

END { if (in_block) end_block() }
