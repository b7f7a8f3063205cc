/** The start of the dashboard. */
import { render } from 'preact'
import { start } from './api/session.ts'
import { takeSetupToken } from './api/setup-token.ts'
import { App } from './app.tsx'

takeSetupToken()
const root = document.getElementById('app')
if (root !== null) render(<App />, root)
void start()
