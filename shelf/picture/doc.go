// Package picture takes in drawings that people bring, such as the plan of a floor: PNG, JPEG and SVG, within bounds, and
// an SVG without what a drawing does not need. Whoever shows one shows it as an image, never as a document.
package picture
