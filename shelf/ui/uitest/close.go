package uitest

// closeBrowser ends the browser of this process.
var closeBrowser = func() error { return nil }

// Close ends the browser, if one was started, once all tests of the package are done.
func Close() error { return closeBrowser() }
