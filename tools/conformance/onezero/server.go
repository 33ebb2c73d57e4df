package onezero

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Username and Password of the one account.
const (
	Username = "bms"
	Password = "as it was in 2017"
)

// Habits are what controllers do differently where the contract leaves it open.
type Habits struct {
	IDKey, NameKey string // of nodes and shades; empty: id, name
	NumbersAsText  bool   // in the records of nodes and shades
	EmptyBody      bool   // where there is nothing, in place of []
	ShadeDown      bool   // answers shades in descending order
	TokenUses      int    // a token is good for so many requests, whatever its hour says; 0: an hour
}

// Server is the controller as a handler of /svc/api.
type Server struct {
	habits Habits

	mu       sync.Mutex
	house    *House
	tokens   map[string]int // uses left
	refresh  string
	issued   int
	asked    map[string]int // requests by endpoint
	onAsking func(endpoint string)
}

// New makes a controller that runs a house.
func New(h *House, habits Habits) *Server {
	if habits.IDKey == "" {
		habits.IDKey = "id"
	}
	if habits.NameKey == "" {
		habits.NameKey = "name"
	}
	return &Server{habits: habits, house: h, tokens: map[string]int{}, asked: map[string]int{}}
}

// Asked counts the requests of an endpoint so far.
func (s *Server) Asked(endpoint string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[endpoint]
}

// Controls counts the control calls so far, refused ones too.
func (s *Server) Controls() int {
	return s.Asked("channelControl") + s.Asked("setColorTemp") + s.Asked("setRGBW") + s.Asked("shadeControl")
}

// OnAsking has f called at the beginning of every request. It may change the house.
func (s *Server) OnAsking(f func(endpoint string, h *House)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onAsking = func(endpoint string) { f(endpoint, s.house) }
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.URL.Path == "/docs" {
		fmt.Fprint(w, "<!doctype html><title>API</title><h2>public-api</h2>")
		return
	}
	endpoint, ok := strings.CutPrefix(r.URL.Path, "/svc/api/")
	if !ok {
		http.NotFound(w, r)
		return
	}
	s.asked[endpoint]++
	if s.onAsking != nil {
		s.onAsking(endpoint)
	}
	var body map[string]any
	if r.Method == http.MethodPost {
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			reply(w, http.StatusInternalServerError, map[string]any{"status": 0})
			return
		}
	}
	switch endpoint {
	case "authenticate":
		s.authenticate(w, body)
		return
	case "refreshToken":
		s.refreshToken(w, body)
		return
	}
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	if s.tokens[token] == 0 {
		reply(w, http.StatusUnauthorized, map[string]any{"status": 0, "message": "Authentication required"})
		return
	}
	s.tokens[token]--
	if r.Method == http.MethodPost {
		s.control(w, endpoint, body)
		return
	}
	s.read(w, endpoint, r)
}

func (s *Server) newToken() string {
	s.issued++
	token := "token-" + strconv.Itoa(s.issued)
	s.tokens[token] = 1 << 30
	if s.habits.TokenUses > 0 {
		s.tokens[token] = s.habits.TokenUses
	}
	return token
}

func (s *Server) authenticate(w http.ResponseWriter, body map[string]any) {
	if body["username"] != Username || body["password"] != Password {
		reply(w, http.StatusOK, map[string]any{"responseCode": 0, "errorCode": "AuthFailed"})
		return
	}
	s.refresh = "refresh-" + strconv.Itoa(s.issued)
	reply(w, http.StatusOK, map[string]any{
		"responseCode": 1, "auth_token": s.newToken(), "refresh_token": s.refresh,
		"tokenExpiresOn": time.Now().Add(time.Hour).Format("2006-01-02T15:04:05.000-07:00"),
	})
}

// Forget ends all tokens, as a restart of some controllers does.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh = ""
	clear(s.tokens)
}

func (s *Server) refreshToken(w http.ResponseWriter, body map[string]any) {
	if s.refresh == "" || body["refresh_token"] != s.refresh {
		reply(w, http.StatusOK, map[string]any{"status": false, "message": "invalid"})
		return
	}
	reply(w, http.StatusOK, map[string]any{"status": true, "message": "Success", "auth_token": s.newToken()})
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}

// list answers records; nothing is answered as is the habit.
func (s *Server) list(w http.ResponseWriter, records []map[string]any) {
	if len(records) == 0 && s.habits.EmptyBody {
		w.WriteHeader(http.StatusOK)
		return
	}
	if records == nil {
		records = []map[string]any{}
	}
	reply(w, http.StatusOK, records)
}

func (s *Server) read(w http.ResponseWriter, endpoint string, r *http.Request) {
	q := r.URL.Query()
	id, _ := strconv.Atoi(q.Get("clusterId"))
	var out []map[string]any
	switch endpoint {
	case "getClusters":
		out = s.clusters()
	case "getActiveNodes":
		for _, n := range s.house.Nodes {
			if !n.Offline && !n.Peripheral {
				out = append(out, s.node(n))
			}
		}
	case "getNodesForCluster":
		out = s.nodesOf(id, q.Get("tagType"))
	case "getShades":
		for _, sh := range s.house.Shades {
			out = append(out, s.shade(sh))
		}
	case "getShadesForCluster":
		for _, sh := range s.house.Shades {
			if c := s.cluster(id); c != nil && slices.Contains(c.Shades, sh.ID) {
				out = append(out, s.shade(sh))
			}
		}
	case "getLightLevels":
		target, _ := strconv.Atoi(q.Get("targetId"))
		out = s.levels(q.Get("targetType"), target)
	default:
		http.NotFound(w, r)
		return
	}
	if s.habits.ShadeDown && strings.HasPrefix(endpoint, "getShades") {
		slices.Reverse(out)
	}
	s.list(w, out)
}

func (s *Server) cluster(id int) *Cluster {
	for i := range s.house.Clusters {
		if s.house.Clusters[i].ID == id {
			return &s.house.Clusters[i]
		}
	}
	return nil
}

// number is a number as records of nodes and shades have it.
func (s *Server) number(n int) any {
	if s.habits.NumbersAsText {
		return strconv.Itoa(n)
	}
	return n
}
