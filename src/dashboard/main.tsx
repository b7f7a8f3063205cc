/** The start of the dashboard. */
import { render } from 'preact'
import { start, wakeUp } from './api/session.ts'
import { takeSetupToken } from './api/setup-token.ts'
import { App, screenAt } from './app.tsx'

/** A page that is whole by then is drawn once; a slower one first shows that it loads. */
const PATIENCE_MS = 150

takeSetupToken()
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) wakeUp()
})
let isDrawn = false
// Apart from the evaluation of the scripts, so that the browser can answer the person in between.
setTimeout(() => {
  setTimeout(draw, PATIENCE_MS)
  void Promise.all([start(), screenAt(location.pathname)?.preload()]).then(draw)
})

function draw(): void {
  const root = document.getElementById('app')
  if (isDrawn || root === null) return
  isDrawn = true
  render(<App />, root)
}
