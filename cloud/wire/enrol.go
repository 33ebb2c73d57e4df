package wire

// EnrolPath is where a controller enrols, by POST over HTTPS.
const EnrolPath = "/api/controllers/enrol"

// Enrolment is the body of that request.
type Enrolment struct {
	Code string `json:"code"` // one-time, from the platform
}

// Credentials is the body of its answer, 201. The password is told this once.
type Credentials struct {
	Controller string `json:"controllerId"`
	// Broker is an URL such as mqtts://platform.example:8883.
	Broker   string `json:"broker"`
	Username string `json:"username"`
	Password string `json:"password"`
	// CA holds PEM certificates to trust the broker by; empty: those that the system trusts.
	CA string `json:"ca,omitempty"`
}
