/** The start of the dashboard. */
import { render } from 'preact'
import { start } from './api/session.ts'
import { takeSetupToken } from './api/setup-token.ts'
import { App } from './app.tsx'

takeSetupToken()
// Going back to a page that the browser kept must not show what it held before a sign-out.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload()
})
const root = document.getElementById('app')
if (root !== null) render(<App />, root)
void start()
