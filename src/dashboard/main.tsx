/** The start of the dashboard. */
import { render } from 'preact'
import { start, wakeUp } from './api/session.ts'
import { takeSetupToken } from './api/setup-token.ts'
import { App } from './app.tsx'

takeSetupToken()
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) wakeUp()
})
const root = document.getElementById('app')
if (root !== null) render(<App />, root)
void start()
