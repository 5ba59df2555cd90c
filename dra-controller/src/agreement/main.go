// agreement writes down what Kubernetes' own allocator (k8s.io/dynamic-resource-allocation/structured) can place: generated
// inventories and claims, one JSON object a line, with the nodes on which it finds a place. AgreementTest plays them through
// ours. The same seed and the same version of the library give the same lines.
//
// The first line is a header: the classes, and an example node with the slices that the allocator was given for it, so that
// the test can hold them against what the controller publishes.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	resourcelisters "k8s.io/client-go/listers/resource/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

const library = "k8s.io/dynamic-resource-allocation"

type header struct {
	Library string                          `json:"library"`
	Seed    uint64                          `json:"seed"`
	Classes map[string]string               `json:"classes"`
	Custom  map[string]string               `json:"custom"`
	Node    node                            `json:"node"`
	Slices  []resourceapi.ResourceSliceSpec `json:"slices"`
}

type testCase struct {
	Nodes   []node                  `json:"nodes"`
	Claim   resourceapi.DeviceClaim `json:"claim"`
	Answers map[string]answer       `json:"answers"` // by node
}

// answer is what the allocator said about a node.
type answer string

const (
	placed  answer = "placed"
	noPlace answer = "no place"
	failed  answer = "error" // of a selector that fails, or of constraints that a request for all devices cannot meet
	// That allocator remembers one value a request for a distinctAttribute, so that of a request for several all but the last are forgotten.
	wrong answer = "placed against a constraint"
)

// The feature gates that are on by default in Kubernetes 1.36.
var features = structured.Features{
	AdminAccess:            true,
	ConsumableCapacity:     true,
	DeviceBindingAndStatus: true,
	DeviceTaints:           true,
	PartitionableDevices:   true,
	PrioritizedList:        true,
}

func main() {
	cases := flag.Int("cases", 600, "cases to write")
	seed := flag.Uint64("seed", 1, "of the generator")
	flag.Parse()
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	example := exampleNode()
	check(out.Encode(header{library + " " + version(), *seed, classes, customClasses, example, slicesOf(example)}))
	generator := generator{rand.New(rand.NewPCG(*seed, 0))}
	celCache := cel.NewCache(1000, cel.Features{EnableConsumableCapacity: true})
	for written := 0; written < *cases; {
		c := testCase{Nodes: generator.nodes(), Claim: generator.claim(), Answers: map[string]answer{}}
		if !judge(&c, celCache) {
			continue
		}
		// Most claims find no place anywhere: of these a quarter is enough.
		answers := slices.Collect(maps.Values(c.Answers))
		if slices.Contains(answers, placed) || slices.Contains(answers, wrong) || generator.percent(25) {
			check(out.Encode(c))
			written++
		}
	}
}

// judge asks the allocator about every node, as kube-scheduler's Filter does, and says whether it has answered: where many devices are alike it may
// try all combinations of them.
func judge(c *testCase, celCache *cel.Cache) bool {
	ctx, done := context.WithTimeout(context.Background(), 5*time.Second)
	defer done()
	var published []*resourceapi.ResourceSlice
	for _, n := range c.Nodes {
		for i, spec := range slicesOf(n) {
			published = append(published, &resourceapi.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("%s-%d", n.Name, i)}, Spec: spec})
		}
	}
	state := stateOf(c.Nodes)
	if isMonitor(c.Claim) {
		// With ours it counts for nothing what is taken. That allocator takes no heed of devices in use, but still of counters and capacity.
		state = stateOf(nil)
	}
	allocator, err := structured.NewAllocator(ctx, features, state, newClasses(), published, celCache)
	check(err)
	claim := &resourceapi.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "claim", UID: types.UID("claim")},
		Spec:       resourceapi.ResourceClaimSpec{Devices: c.Claim},
	}
	for _, n := range c.Nodes {
		results, err := allocator.Allocate(ctx, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.Name}}, []*resourceapi.ResourceClaim{claim})
		if ctx.Err() != nil {
			return false
		}
		switch {
		case err != nil:
			c.Answers[n.Name] = failed
		case len(results) == 1 && !areDistinct(c.Claim, results[0].Devices.Results, published):
			c.Answers[n.Name] = wrong
		case len(results) == 1:
			c.Answers[n.Name] = placed
		default:
			c.Answers[n.Name] = noPlace
		}
	}
	return true
}

// areDistinct says whether the results keep what the claim has as distinctAttribute.
func areDistinct(claim resourceapi.DeviceClaim, results []resourceapi.DeviceRequestAllocationResult, published []*resourceapi.ResourceSlice) bool {
	for _, constraint := range claim.Constraints {
		if constraint.DistinctAttribute == nil {
			continue
		}
		name := strings.TrimPrefix(string(*constraint.DistinctAttribute), driver+"/")
		seen := map[string]bool{}
		for _, result := range results {
			request, _, _ := strings.Cut(result.Request, "/")
			if len(constraint.Requests) > 0 && !slices.Contains(constraint.Requests, request) && !slices.Contains(constraint.Requests, result.Request) {
				continue
			}
			value := attribute(published, result, name)
			if seen[value] {
				return false
			}
			seen[value] = true
		}
	}
	return true
}

func attribute(published []*resourceapi.ResourceSlice, result resourceapi.DeviceRequestAllocationResult, name string) string {
	for _, slice := range published {
		for _, device := range slice.Spec.Devices {
			if slice.Spec.Pool.Name == result.Pool && device.Name == result.Device {
				value, err := json.Marshal(device.Attributes[resourceapi.QualifiedName(name)])
				check(err)
				return string(value)
			}
		}
	}
	panic("no such device: " + result.Device)
}

// stateOf is what kube-scheduler would have noted of the claims that hold what is taken.
func stateOf(nodes []node) structured.AllocatedState {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, n := range nodes {
		for i, taken := range n.Taken {
			id := structured.MakeDeviceID(driver, n.pool(), taken.device())
			if !taken.isShare() {
				state.AllocatedDevices.Insert(id)
				continue
			}
			share := types.UID(fmt.Sprintf("%s-%d", n.Name, i))
			state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, &share))
			state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, taken.capacity()))
		}
	}
	return state
}

type classLister struct {
	resourcelisters.DeviceClassLister
}

func (l classLister) List() ([]*resourceapi.DeviceClass, error) {
	return l.DeviceClassLister.List(labels.Everything())
}

func newClasses() classLister {
	index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, made := range []map[string]string{classes, customClasses} {
		for name, expression := range made {
			check(index.Add(&resourceapi.DeviceClass{
				ObjectMeta: metav1.ObjectMeta{Name: name},
				Spec:       resourceapi.DeviceClassSpec{Selectors: []resourceapi.DeviceSelector{selector(expression)}},
			}))
		}
	}
	return classLister{resourcelisters.NewDeviceClassLister(index)}
}

func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == library {
			return module.Version
		}
	}
	return "unknown"
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
