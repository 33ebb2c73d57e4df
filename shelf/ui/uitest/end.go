package uitest

import "time"

// Patience is how long anything may take before a test gives up. It is generous:
// nothing is measured with it.
const Patience = 3 * time.Minute

// closeBrowser ends the browser of this process.
var closeBrowser = func() error { return nil }

// Close ends the browser, if one was started, once all tests of the package are done.
func Close() error { return closeBrowser() }
