//go:build peers

package main

import (
	"fmt"
	"testing"

	"svc.internal/controller/shelf/ui/uitest"
)

// ear is a browser's speech recognition, as the page finds it; window.hears says what it hears.
const ear = `(() => {
	window.SpeechRecognition = window.webkitSpeechRecognition = class {
		start() { window.ear = this; }
		stop() { setTimeout(() => this.onend(), 50); }
		abort() {}
	};
	window.hears = (text) => window.ear.onresult({ results: [[{ transcript: text }]] });
	window.spoken = [];
	window.speechSynthesis.speak = (s) => window.spoken.push([s.lang, s.text]);
	return true;
})()`

func TestTalkingAtARoom(t *testing.T) {
	t.Parallel()
	e := newEstate(t, nil)
	code := e.room("lobby", "Lobby", "[1]")
	browser := uitest.Open(t)
	tab := browser.Tab(t, looks[0])
	tab.Go(e.url + "/panel/lobby#code=" + code)
	tab.WaitText("2 lights")
	inspect(t, tab, "panel-talk")
	tab.Press("Talk")
	tab.WaitText("Hold to talk")
	if at := uitest.Eval[string](tab, "location.pathname + location.hash"); at != "/panel/lobby/talk#code="+code {
		t.Errorf("the panel leads to %s", at)
	}
	inspect(t, tab, "talk-390")
	said(tab, "lights to 30 percent", "Lights at 30 percent.")
	if e.level(1) != 30 {
		t.Errorf("typed 30 percent, the light is at %d", e.level(1))
	}

	// By the button, with a finger and with a key.
	tab.Wait(ear)
	tab.Wait(`(() => { const b = document.querySelector(".hold"); b.setPointerCapture = () => {}; b.dispatchEvent(new PointerEvent("pointerdown", { bubbles: true, pointerId: 1 })); return true; })()`)
	tab.WaitText("Listening")
	tab.Wait(`(window.hears("lights to 60 percent"), true)`)
	tab.WaitText("lights to 60 percent")
	inspect(t, tab, "talk-listens")
	tab.Wait(`(document.querySelector(".hold").dispatchEvent(new PointerEvent("pointerup", { bubbles: true, pointerId: 1 })), true)`)
	tab.Wait(`/Lights at 60 percent\.|Sent\./.test(document.body.innerText)`) // a busy machine may not hear of it in time
	eventually(t, "said 60 percent, the light is at 60", func() bool { return e.level(1) == 60 })
	tab.Wait(`(document.querySelector("label.check input").click(), true)`)
	tab.Wait(`(() => { const b = document.querySelector(".hold"); b.focus(); b.dispatchEvent(new KeyboardEvent("keydown", { key: " ", bubbles: true })); window.hears("lights off"); b.dispatchEvent(new KeyboardEvent("keyup", { key: " ", bubbles: true })); return true; })()`)
	tab.WaitText("You said: lights off")
	tab.Wait(`window.spoken.length === 1`)
	eventually(t, "said off, the light is off", func() bool { return e.level(1) == 0 })

	for _, look := range looks {
		view := browser.Tab(t, look)
		view.Go(e.url + "/panel/lobby/talk#code=" + code)
		view.Wait(`document.querySelector(".hold")`)
		view.Shot(fmt.Sprintf("talk-%d-%t", look.Width, look.Dark), true)
		inspect(t, view, fmt.Sprintf("talk-seen-%d-%t", look.Width, look.Dark))
	}
	stranger := browser.Tab(t, looks[0])
	stranger.Ignore("status of 401")
	stranger.Go(e.url + "/panel/lobby/talk#code=guessed")
	stranger.WaitText("This link opens no panel")
}
