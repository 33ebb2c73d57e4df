// Package pages is the web pages of the platform for people, and what only they ask for: sites and controllers with their
// health, enrolment, use of limits, and one stream of events. Everything else they ask the doors that programs use.
package pages
