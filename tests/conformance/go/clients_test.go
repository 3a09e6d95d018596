// Package clients drives an API server with the Go libraries that controllers are made of:
// client-go's informers and dynamic client, and a controller-runtime manager. It is run against
// the kubeconfig that KUBECONFIG names; the server must be empty and serve what CRDs are made of.
package clients

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/log"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

const (
	patience  = 60 * time.Second
	finalizer = "example.io/go-clients"
)

var gadgets = schema.GroupVersionResource{Group: "go.example.io", Version: "v1", Resource: "gadgets"}

func config(t *testing.T) *rest.Config {
	t.Helper()
	path := os.Getenv("KUBECONFIG")
	if path == "" {
		t.Skip("KUBECONFIG is not set")
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	must(t, err)
	return config
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, look func(ctx context.Context) (bool, error)) {
	t.Helper()
	err := wait.PollUntilContextTimeout(context.Background(), 50*time.Millisecond, patience, true, look)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// streaming turns client-go's streaming lists on or off for one test.
type streaming struct {
	clientfeatures.Gates
	on bool
}

func (s streaming) Enabled(key clientfeatures.Feature) bool {
	if key == clientfeatures.WatchListClient {
		return s.on
	}
	return s.Gates.Enabled(key)
}

func TestInformersSeeEveryChange(t *testing.T) {
	config := config(t)
	clientset, err := kubernetes.NewForConfig(config)
	must(t, err)
	before := clientfeatures.FeatureGates()
	defer clientfeatures.ReplaceFeatureGates(before)
	for _, on := range []bool{true, false} {
		clientfeatures.ReplaceFeatureGates(streaming{before, on})
		t.Run(fmt.Sprintf("streaming=%v", on), func(t *testing.T) {
			ctx, stop := context.WithTimeout(context.Background(), patience)
			defer stop()
			maps := clientset.CoreV1().ConfigMaps("default")
			run := time.Now().UnixNano()
			name := func(i int) string { return fmt.Sprintf("informed-%d-%d", run, i) }
			for i := range 20 {
				_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name(i)}}, metav1.CreateOptions{})
				must(t, err)
			}
			factory := informers.NewSharedInformerFactory(clientset, 0)
			informer := factory.Core().V1().ConfigMaps()
			deleted := make(chan string, 100)
			_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
				DeleteFunc: func(object any) {
					key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(object)
					deleted <- key
				},
			})
			must(t, err)
			factory.Start(ctx.Done())
			if !cache.WaitForCacheSync(ctx.Done(), informer.Informer().HasSynced) {
				t.Fatal("the informer does not sync")
			}
			for i := range 20 {
				_, err := informer.Lister().ConfigMaps("default").Get(name(i))
				must(t, err)
			}
			changed, err := maps.Get(ctx, name(0), metav1.GetOptions{})
			must(t, err)
			changed.Data = map[string]string{"a": "b"}
			changed, err = maps.Update(ctx, changed, metav1.UpdateOptions{})
			must(t, err)
			eventually(t, "the update", func(context.Context) (bool, error) {
				seen, err := informer.Lister().ConfigMaps("default").Get(name(0))
				return err == nil && seen.ResourceVersion == changed.ResourceVersion, nil
			})
			must(t, maps.Delete(ctx, name(1), metav1.DeleteOptions{}))
			select {
			case key := <-deleted:
				if key != "default/"+name(1) {
					t.Fatalf("%s was deleted", key)
				}
			case <-ctx.Done():
				t.Fatal("the deletion is not seen")
			}
		})
	}
}

// serveGadgets makes the custom kind of these tests served.
func serveGadgets(t *testing.T, config *rest.Config) {
	t.Helper()
	scheme := runtime.NewScheme()
	must(t, apiextensionsv1.AddToScheme(scheme))
	admin, err := client.New(config, client.Options{Scheme: scheme})
	must(t, err)
	open := true
	object := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open}
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: gadgets.Resource + "." + gadgets.Group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: gadgets.Group,
			Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: gadgets.Resource, Singular: "gadget", Kind: "Gadget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: gadgets.Version, Served: true, Storage: true,
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": object, "status": object},
				}},
			}},
		},
	}
	err = admin.Create(context.Background(), crd)
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	eventually(t, "the kind", func(ctx context.Context) (bool, error) {
		err := admin.Get(ctx, client.ObjectKeyFromObject(crd), crd)
		for _, condition := range crd.Status.Conditions {
			if condition.Type == apiextensionsv1.Established && condition.Status == apiextensionsv1.ConditionTrue {
				return true, nil
			}
		}
		return false, err
	})
}

func gadget(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": gadgets.GroupVersion().String(), "kind": "Gadget",
		"metadata": map[string]any{"name": name, "namespace": "default"},
		"spec":     map[string]any{"size": int64(1)},
	}}
}

func TestDynamicClient(t *testing.T) {
	config := config(t)
	serveGadgets(t, config)
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	dynamicClient, err := dynamic.NewForConfig(config)
	must(t, err)
	all := dynamicClient.Resource(gadgets).Namespace("default")
	factory := dynamicinformer.NewDynamicSharedInformerFactory(dynamicClient, 0)
	lister := factory.ForResource(gadgets).Lister()
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())

	for i := range 7 {
		_, err := all.Create(ctx, gadget(fmt.Sprintf("page-%d", i)), metav1.CreateOptions{})
		must(t, err)
	}
	seen, options := 0, metav1.ListOptions{Limit: 3}
	for {
		page, err := all.List(ctx, options)
		must(t, err)
		seen += len(page.Items)
		if options.Continue = page.GetContinue(); options.Continue == "" {
			break
		}
	}
	if seen != 7 {
		t.Fatalf("%d objects in pages of three", seen)
	}
	applied := gadget("page-0")
	applied.Object["spec"] = map[string]any{"size": int64(2)}
	_, err = all.Apply(ctx, "page-0", applied, metav1.ApplyOptions{FieldManager: "one", Force: true})
	must(t, err)
	applied.Object["spec"] = map[string]any{"size": int64(3)}
	_, err = all.Apply(ctx, "page-0", applied, metav1.ApplyOptions{FieldManager: "two"})
	if !apierrors.IsConflict(err) {
		t.Fatalf("another applier is not stopped: %v", err)
	}
	patch := []byte(`{"status":{"phase":"Ready"}}`)
	_, err = all.Patch(ctx, "page-0", types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	must(t, err)
	eventually(t, "the cache", func(context.Context) (bool, error) {
		object, err := lister.ByNamespace("default").Get("page-0")
		if err != nil {
			return false, nil
		}
		phase, _, _ := unstructured.NestedString(object.(*unstructured.Unstructured).Object, "status", "phase")
		return phase == "Ready", nil
	})
	must(t, all.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	eventually(t, "an empty cache", func(context.Context) (bool, error) {
		objects, err := count(lister)
		return objects == 0, err
	})
}

func count(lister cache.GenericLister) (int, error) {
	objects, err := lister.ByNamespace("default").List(labels.Everything())
	return len(objects), err
}

// reconciler gives each gadget a finalizer, a ConfigMap of its own, and a status.
type reconciler struct{ client.Client }

func (r reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := gadget(request.Name)
	if err := r.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if object.GetDeletionTimestamp() != nil {
		if controllerutil.RemoveFinalizer(object, finalizer) {
			return ctrl.Result{}, r.Update(ctx, object)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(object, finalizer) {
		return ctrl.Result{}, r.Update(ctx, object)
	}
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "of-" + request.Name, Namespace: request.Namespace}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, owned, func() error {
		owned.Data = map[string]string{"made": "yes"}
		return controllerutil.SetControllerReference(object, owned, r.Scheme())
	})
	if err != nil {
		return ctrl.Result{}, err
	}
	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	if phase == "Ready" {
		return ctrl.Result{}, nil
	}
	object.Object["status"] = map[string]any{"phase": "Ready"}
	return ctrl.Result{}, r.Status().Update(ctx, object)
}

func TestManagerWithLeaderElection(t *testing.T) {
	config := config(t)
	serveGadgets(t, config)
	log.SetLogger(logr.Discard())
	ctx, stop := context.WithCancel(context.Background())
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        clientscheme.Scheme,
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		LeaderElection:                true,
		LeaderElectionID:              "go-clients",
		LeaderElectionNamespace:       "default",
		LeaderElectionReleaseOnCancel: true,
	})
	must(t, err)
	must(t, ctrl.NewControllerManagedBy(manager).Named("gadgets").For(gadget("")).Owns(&corev1.ConfigMap{}).
		Complete(reconciler{manager.GetClient()}))
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	select {
	case <-manager.Elected():
	case err := <-ended:
		t.Fatal(err)
	case <-time.After(patience):
		t.Fatal("nobody leads")
	}

	direct, err := client.New(config, client.Options{})
	must(t, err)
	lease := &unstructured.Unstructured{}
	lease.SetGroupVersionKind(schema.GroupVersionKind{Group: "coordination.k8s.io", Version: "v1", Kind: "Lease"})
	must(t, direct.Get(ctx, client.ObjectKey{Namespace: "default", Name: "go-clients"}, lease))
	must(t, direct.Create(ctx, gadget("managed")))
	key, ownedKey := client.ObjectKey{Namespace: "default", Name: "managed"}, client.ObjectKey{Namespace: "default", Name: "of-managed"}
	eventually(t, "the status", func(ctx context.Context) (bool, error) {
		object := gadget("")
		err := direct.Get(ctx, key, object)
		phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
		return phase == "Ready", err
	})
	owned := &corev1.ConfigMap{}
	must(t, direct.Get(ctx, ownedKey, owned))
	// What the controller owns comes back when it is deleted, and goes with its owner.
	first := owned.UID
	must(t, direct.Delete(ctx, owned))
	eventually(t, "the owned object to come back", func(ctx context.Context) (bool, error) {
		err := direct.Get(ctx, ownedKey, owned)
		return err == nil && owned.UID != first, client.IgnoreNotFound(err)
	})
	must(t, direct.Delete(ctx, gadget("managed")))
	eventually(t, "both to be gone", func(ctx context.Context) (bool, error) {
		gone := apierrors.IsNotFound(direct.Get(ctx, key, gadget("")))
		return gone && apierrors.IsNotFound(direct.Get(ctx, ownedKey, owned)), nil
	})
	stop()
	must(t, <-ended)
}
