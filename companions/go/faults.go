package mockbroker

// AddedFault is a fault that is in force.
type AddedFault struct {
	Name string

	cluster *Cluster
	last    *shownFault // how it was when it was removed
}

// AddFault lets something go wrong from now on. The test fails if that never happens, unless the fault is Optional.
func (c *Cluster) AddFault(fault Fault) *AddedFault {
	c.t.Helper()
	var shown shownFault
	c.do("POST", "/faults", with(map[string]any{}, []Fault{fault}), &shown)
	added := &AddedFault{Name: shown.Name, cluster: c}
	c.faults = append(c.faults, added)
	return added
}

// Hits is how many requests it has acted on.
func (f *AddedFault) Hits() int {
	f.cluster.t.Helper()
	return f.shown().Hits
}

// Wait returns once it has acted on so many requests; the test ends if that takes more than ten seconds.
func (f *AddedFault) Wait(hits int) {
	f.cluster.t.Helper()
	arguments := map[string]any{"hits": hits, "timeout": 10}
	f.cluster.do("GET", path("/faults/%v/wait", f.Name), arguments, nil)
}

// Pause holds every request that matches it, until Release.
func (f *AddedFault) Pause() {
	f.cluster.t.Helper()
	f.cluster.do("POST", path("/faults/%v/pause", f.Name), nil, nil)
}

// Release lets go of the requests that it holds, and holds none from now on.
func (f *AddedFault) Release() {
	f.cluster.t.Helper()
	f.cluster.do("POST", path("/faults/%v/release", f.Name), nil, nil)
}

// Remove takes it out of force. If it never fired by then, the test fails.
func (f *AddedFault) Remove() {
	f.cluster.t.Helper()
	found := f.shown()
	f.last = &found
	f.cluster.do("DELETE", path("/faults/%v", f.Name), nil, nil)
}

type shownFault struct {
	Name     string `json:"name"`
	Hits     int    `json:"hits"`
	Optional bool   `json:"optional"`
	Why      string `json:"why"`
}

func (f *AddedFault) shown() shownFault {
	f.cluster.t.Helper()
	if f.last != nil {
		return *f.last
	}
	var found shownFault
	f.cluster.do("GET", path("/faults/%v", f.Name), nil, &found)
	return found
}
