// Cluster Autoscaler's own reckoning about one node, without a cluster: how much of the node is used, and which pods
// would fit a new node like it.
//
// would-fit FILE reads a JSON object with the Node, its ResourceSlices, the DeviceClasses, the pods that run on the
// node, their ResourceClaims, and questions by name: pods and their claims. It writes a JSON object: the node's
// utilization as Cluster Autoscaler calculates it before it removes a node, and per question what it says of each
// pod, "fits" or why not. The pods of a question are placed one after the other on one new node.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	"k8s.io/autoscaler/cluster-autoscaler/config"
	"k8s.io/autoscaler/cluster-autoscaler/simulator"
	"k8s.io/autoscaler/cluster-autoscaler/simulator/clustersnapshot/predicate"
	"k8s.io/autoscaler/cluster-autoscaler/simulator/clustersnapshot/store"
	dra "k8s.io/autoscaler/cluster-autoscaler/simulator/dynamicresources/snapshot"
	"k8s.io/autoscaler/cluster-autoscaler/simulator/framework"
	"k8s.io/autoscaler/cluster-autoscaler/simulator/utilization"
	"k8s.io/autoscaler/cluster-autoscaler/utils/taints"
)

type workload struct {
	Pods   []*corev1.Pod               `json:"pods"`
	Claims []*resourcev1.ResourceClaim `json:"claims"`
}

type situation struct {
	workload
	Node      *corev1.Node                `json:"node"`
	Slices    []*resourcev1.ResourceSlice `json:"slices"`
	Classes   []*resourcev1.DeviceClass   `json:"classes"`
	Questions map[string]*workload        `json:"questions"`
}

type answers struct {
	Utilization float64             `json:"utilization"`
	Questions   map[string][]string `json:"questions"`
}

func main() {
	if len(os.Args) != 2 {
		stop(fmt.Errorf("usage: would-fit FILE"))
	}
	content, err := os.ReadFile(os.Args[1])
	stop(err)
	var given situation
	stop(json.Unmarshal(content, &given))
	said, err := reckon(context.Background(), &given)
	stop(err)
	stop(json.NewEncoder(os.Stdout).Encode(said))
}

func stop(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "would-fit:", err)
		os.Exit(1)
	}
}

func reckon(ctx context.Context, given *situation) (*answers, error) {
	cluster, err := clusterOf(ctx, given)
	if err != nil {
		return nil, err
	}
	node, err := cluster.GetNodeInfo(given.Node.Name)
	if err != nil {
		return nil, err
	}
	used, err := utilization.Calculate(node, false, false, true, nil, time.Now())
	if err != nil {
		return nil, fmt.Errorf("utilization: %w", err)
	}
	template, failed := simulator.SanitizedTemplateNodeInfoFromNodeInfo(node, "group", nil, true,
		taints.NewTaintConfig(config.AutoscalingOptions{}))
	if failed != nil {
		return nil, failed
	}
	said := &answers{Utilization: used.DynamicResourceUtil, Questions: map[string][]string{}}
	for name, asked := range given.Questions {
		if said.Questions[name], err = answer(cluster, template, asked); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return said, nil
}

// clusterOf makes a cluster of that node alone. The objects that scheduling reads besides, such as volumes, are none.
func clusterOf(ctx context.Context, given *situation) (*predicate.PredicateSnapshot, error) {
	none := informers.NewSharedInformerFactory(fake.NewClientset(), 0)
	handle, err := framework.NewHandle(ctx, none, nil, true, false)
	if err != nil {
		return nil, err
	}
	none.Start(ctx.Done())
	none.WaitForCacheSync(ctx.Done())
	claims := map[dra.ResourceClaimId]*resourcev1.ResourceClaim{}
	for _, claim := range given.Claims {
		claims[dra.GetClaimId(claim)] = claim
	}
	classes := map[string]*resourcev1.DeviceClass{}
	for _, class := range given.Classes {
		classes[class.Name] = class
	}
	slices := map[string][]*resourcev1.ResourceSlice{given.Node.Name: given.Slices}
	cluster := predicate.NewPredicateSnapshot(store.NewDeltaSnapshotStore(), handle, true, 1, false)
	return cluster, cluster.SetClusterState([]*corev1.Node{given.Node}, given.Pods,
		dra.NewSnapshot(claims, slices, nil, classes), nil)
}

// answer places the pods on a new node of that template, of which nothing is left afterwards.
func answer(cluster *predicate.PredicateSnapshot, template *framework.NodeInfo, asked *workload) ([]string, error) {
	cluster.Fork()
	defer cluster.Revert()
	added, err := simulator.SanitizedNodeInfo(template, "0")
	if err != nil {
		return nil, err
	}
	if err := cluster.AddNodeInfo(added); err != nil {
		return nil, err
	}
	for _, claim := range asked.Claims {
		claim.UID = uuid.NewUUID()
	}
	if err := cluster.DraSnapshot().AddClaims(asked.Claims); err != nil {
		return nil, err
	}
	said := []string{}
	for _, pod := range asked.Pods {
		pod.UID = uuid.NewUUID()
		if refused := cluster.SchedulePod(pod, added.Node().Name); refused != nil {
			said = append(said, strings.Join(refused.Reasons(), "; "))
		} else {
			said = append(said, "fits")
		}
	}
	return said, nil
}
