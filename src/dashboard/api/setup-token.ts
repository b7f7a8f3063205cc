/**
 * The token of the link that sets the server up. It comes in the fragment of `/app/setup`, leaves the address
 * bar at once, and is kept in the memory of this page only.
 */
import { signal } from '@preact/signals'
import { base } from './client.ts'

export const setupToken = signal<string | undefined>(undefined)

/** Takes the token now, and from a link that is pasted into the address bar later. */
export function takeSetupToken(): void {
  take()
  addEventListener('hashchange', take)
}

function take(): void {
  const { pathname, search, hash } = location
  if (pathname.replace(/\/$/, '') !== `${base}/app/setup` || hash.length < 2) return
  setupToken.value = hash.slice(1)
  history.replaceState(history.state, '', pathname + search)
}
