export default {
  "talk": "Talk",
  "talk.aloud": "Say answers aloud",
  "talk.back": "Panel",
  "talk.hear": "Listening … let go to send",
  "talk.hold": "Hold to talk",
  "talk.language": "Language",
  "talk.language.de": "German",
  "talk.language.en": "English",
  "talk.late": "It took too long to be understood, so nothing was sent. Say it again.",
  "talk.lost": "No answer came. Look whether it was done.",
  "talk.none": "This browser cannot listen. Type, or use the microphone of the keyboard.",
  "talk.not.audio": "There is no microphone here.",
  "talk.not.denied": "The browser may not use the microphone. Allow it in its settings for this page, or type.",
  "talk.not.language": "The browser does not understand this language.",
  "talk.not.network": "The browser's speech service cannot be reached. Type instead.",
  "talk.not.other": "The browser could not listen. Try again, or type.",
  "talk.not.silent": "Nothing was heard. Hold the button while you talk.",
  "talk.off": "Voice is switched off on this platform.",
  "talk.privacy":
    "While you hold the button the browser listens, and may send what it hears to its maker to turn it into text. The " +
      "platform gets the text alone.",
  "talk.said": "You said: {text}",
  "talk.type": "Or type it",
  "talk.try": "For example: “Lights to 40 percent”, “open the blinds”, “are the lights on?”"
};
