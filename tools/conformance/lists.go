package conformance

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
)

// tries of what something else may disturb.
const tries = 5

func contains(body []byte, part string) bool { return bytes.Contains(body, []byte(part)) }

func isJSON(kind string) bool { return strings.HasPrefix(kind, "application/json") }

// name is an endpoint without its query.
func name(endpoint string) string {
	before, _, _ := strings.Cut(endpoint, "?")
	return before
}

var clusterFields = []field{
	{"id", integer}, {"name", text}, {"createdByName", text}, {"createdOn", isoTime}, {"nodeCount", integer},
	{"dimLevel", integer}, {"shadeLevel", integer}, {"colorLevel", integer}, {"rgbw", rgbw},
}

func names(fields []field) []string {
	var out []string
	for _, f := range fields {
		out = append(out, f.name)
	}
	return out
}

// of makes the check of a list.
func of(endpoint string, check func([]record) error) func(*run) error {
	return func(r *run) error {
		records, err := r.list(endpoint)
		if err != nil {
			return err
		}
		return check(records)
	}
}

func clusterRows() []row {
	return []row{
		{"getClusters", "an array of clusters with all fields of the contract", Contract, of("getClusters", func(c []record) error {
			return check("clusters", c, clusterFields...)
		})},
		{"getClusters.ids", "IDs are unique", Contract, of("getClusters", func(c []record) error { return unique("clusters", c, "id") })},
		{"getClusters.shadeLevel", "shadeLevel is a position of 0 to 100", Contract, of("getClusters", func(c []record) error {
			return check("clusters", c, field{"shadeLevel", within(0, 100)})
		})},
		{"getClusters.dimLevel", "dimLevel is 0 to 100, nodeCount not below 0", Ours, of("getClusters", func(c []record) error {
			return check("clusters", c, field{"dimLevel", within(0, 100)}, field{"nodeCount", within(0, 1<<31)})
		})},
		{"getClusters.only", "no fields but those of the contract", Ours, of("getClusters", func(c []record) error { return only("clusters", c, names(clusterFields)...) })},
		{"getClusters.order", "ascending by ID", Ours, of("getClusters", func(c []record) error { return ascending("clusters", c, "id") })},
		{"getClusters.nodeCount", "nodeCount counts the light nodes of the cluster", Ours, (*run).nodeCount},
		{"getClusters.means", "dimLevel and shadeLevel are the means of online members, rounded half up", Ours, (*run).means},
	}
}

var (
	nodeFields = []field{
		{"id", integer}, {"name", text}, {"clusterId", integer}, {"clusterName", text}, {"tagType", oneOf("NODE", "PERIPHERAL")},
		{"channelCount", integer}, {"status", oneOf("ONLINE", "OFFLINE")}, {"dimLevel", within(0, 100)}, {"colorLevel", integer},
		{"rgbw", rgbw}, {"power", number}, {"lastSeen", timeOrNull},
	}
	shadeFields = []field{
		{"id", integer}, {"name", text}, {"nodeId", integer}, {"clusterId", integer}, {"clusterName", text}, {"shadeLevel", within(0, 100)},
		{"shadeState", oneOf("OPENING", "CLOSING", "MOVING", "STOPPED", "UNKNOWN")}, {"status", oneOf("ONLINE", "OFFLINE")}, {"lastSeen", timeOrNull},
	}
)

func nodeRows() []row {
	return []row{
		{"getActiveNodes", "an array of light nodes", Contract, of("getActiveNodes", func([]record) error { return nil })},
		{"getActiveNodes.fields", "records as we decided", Ours, of("getActiveNodes", func(n []record) error { return check("nodes", n, nodeFields...) })},
		{"getActiveNodes.only", "no fields besides", Ours, of("getActiveNodes", func(n []record) error { return only("nodes", n, names(nodeFields)...) })},
		{"getActiveNodes.online", "only light nodes that are online", Ours, of("getActiveNodes", func(n []record) error {
			return check("nodes", n, field{"tagType", oneOf("NODE")}, field{"status", oneOf("ONLINE")})
		})},
		{"getActiveNodes.order", "ascending by ID", Ours, of("getActiveNodes", func(n []record) error { return ascending("nodes", n, "id") })},
		{"getNodesForCluster", "an array for each cluster and each tagType", Contract, (*run).nodesForClusters},
		{"getNodesForCluster.tags", "ALL has as many nodes as NODE and PERIPHERAL have", Contract, (*run).tags},
		{"getNodesForCluster.fields", "records as we decided, of this cluster", Ours, (*run).nodeRecords},
		{"getNodesForCluster.tagType", "without tagType it is ALL", Ours, (*run).tagAbsent},
	}
}

func shadeRows() []row {
	return []row{
		{"getShades", "an array of shades, shadeLevel an integer of 0 to 100", Contract, of("getShades", func(s []record) error {
			return check("shades", s, field{"shadeLevel", within(0, 100)})
		})},
		{"getShades.fields", "records as we decided", Ours, of("getShades", func(s []record) error { return check("shades", s, shadeFields...) })},
		{"getShades.only", "no fields besides", Ours, of("getShades", func(s []record) error { return only("shades", s, names(shadeFields)...) })},
		{"getShades.order", "ascending by ID", Ours, of("getShades", func(s []record) error { return ascending("shades", s, "id") })},
		{"getShadesForCluster", "an array for each cluster, shadeLevel an integer of 0 to 100", Contract, (*run).shadesForClusters},
		{"getShadesForCluster.fields", "records as we decided, of this cluster", Ours, (*run).shadeRecords},
	}
}

// clusters are those of getClusters.
func (r *run) clusters() ([]record, error) {
	c, err := r.list("getClusters")
	if err == nil && len(c) == 0 {
		err = skip("there is no cluster")
	}
	return c, err
}

// eachCluster asks an endpoint for every cluster.
func (r *run) eachCluster(endpoint, rest string, check func(cluster record, of []record) error) error {
	clusters, err := r.clusters()
	if err != nil {
		return err
	}
	for _, c := range clusters {
		records, err := r.list(fmt.Sprintf("%s?clusterId=%d%s", endpoint, c.integer("id"), rest))
		if err == nil {
			err = check(c, records)
		}
		if err != nil {
			return fmt.Errorf("cluster %d: %w", c.integer("id"), err)
		}
	}
	return nil
}

func (r *run) nodesForClusters() error {
	for _, tag := range []string{"ALL", "NODE", "PERIPHERAL"} {
		if err := r.eachCluster("getNodesForCluster", "&tagType="+tag, func(record, []record) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) tags() error {
	return r.eachCluster("getNodesForCluster", "&tagType=ALL", func(c record, all []record) error {
		lights, err := r.list(fmt.Sprintf("getNodesForCluster?clusterId=%d&tagType=NODE", c.integer("id")))
		if err != nil {
			return err
		}
		others, err := r.list(fmt.Sprintf("getNodesForCluster?clusterId=%d&tagType=PERIPHERAL", c.integer("id")))
		if err == nil && len(all) != len(lights)+len(others) {
			err = fmt.Errorf("%d nodes in all, %d tagged NODE and %d PERIPHERAL", len(all), len(lights), len(others))
		}
		return err
	})
}

// member checks that records are of a cluster.
func member(c record) field { return field{"clusterId", within(c.integer("id"), c.integer("id"))} }

func (r *run) nodeRecords() error {
	return r.eachCluster("getNodesForCluster", "&tagType=ALL", func(c record, all []record) error {
		if err := check("nodes", all, append([]field{member(c)}, nodeFields...)...); err != nil {
			return err
		}
		return ascending("nodes", all, "id")
	})
}

func (r *run) tagAbsent() error {
	return r.eachCluster("getNodesForCluster", "&tagType=ALL", func(c record, all []record) error {
		absent, err := r.list(fmt.Sprintf("getNodesForCluster?clusterId=%d", c.integer("id")))
		if err == nil && len(absent) != len(all) {
			err = fmt.Errorf("%d nodes without tagType, %d with ALL", len(absent), len(all))
		}
		return err
	})
}

func (r *run) shadesForClusters() error {
	return r.eachCluster("getShadesForCluster", "", func(_ record, s []record) error {
		return check("shades", s, field{"shadeLevel", within(0, 100)})
	})
}

func (r *run) shadeRecords() error {
	return r.eachCluster("getShadesForCluster", "", func(c record, s []record) error {
		if err := check("shades", s, append([]field{member(c)}, shadeFields...)...); err != nil {
			return err
		}
		return ascending("shades", s, "id")
	})
}

func (r *run) nodeCount() error {
	return r.eachCluster("getNodesForCluster", "&tagType=NODE", func(c record, lights []record) error {
		if n := c.integer("nodeCount"); n != int64(len(lights)) {
			return fmt.Errorf("nodeCount is %d, but it has %d nodes tagged NODE", n, len(lights))
		}
		return nil
	})
}

func refusalRows() []row {
	bad := func(endpoint string) func(*run) error {
		return func(r *run) error {
			if r.token == "" {
				return errNobody
			}
			return r.refused(http.MethodGet, endpoint, nil, http.StatusBadRequest)
		}
	}
	missing := func(endpoint string) func(*run) error {
		return func(r *run) error {
			if r.token == "" {
				return errNobody
			}
			return r.refused(http.MethodGet, endpoint, nil, http.StatusNotFound)
		}
	}
	return []row{
		{"bad.clusterId", "a clusterId that is no number: 400", Ours, bad("getShadesForCluster?clusterId=abc")},
		{"bad.clusterId.missing", "no clusterId: 400", Ours, bad("getNodesForCluster?tagType=ALL")},
		{"bad.tagType", "a tagType that there is not: 400", Ours, bad("getNodesForCluster?clusterId=1&tagType=LAMP")},
		{"bad.targetType", "a targetType that there is not: 400", Ours, bad("getLightLevels?targetType=4&targetId=1")},
		{"bad.targetId", "targetType 2 without a targetId: 400", Ours, bad("getLightLevels?targetType=2")},
		{"unknown.cluster", "a cluster that is not there: 404", Ours, missing(fmt.Sprintf("getNodesForCluster?clusterId=%d", nobody))},
		{"unknown.target", "levels of a target that is not there: 404", Ours, missing(fmt.Sprintf("getLightLevels?targetType=3&targetId=%d", nobody))},
	}
}

// nobody has the highest ID that we give, unless a site has used them all.
const nobody = 199_999_999
