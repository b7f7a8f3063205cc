/** Where a sign-in leads: an address that somebody may have put into a link. */

const ORIGIN = 'https://pillarbox.invalid'
/** Screens that would lead back to the sign-in. */
const DOORS = /^\/app\/(?:login|signup|forgot|setup)(?:\/|$)/

/**
 * The path and query of a screen, or `<base>/app` for anything else: another origin, a path outside of the
 * dashboard, or a door. `base`: the path before `/app`.
 */
export function nextPath(wanted: string | undefined, base: string): string {
  const home = `${base}/app`
  if (wanted === undefined || !wanted.startsWith('/') || !URL.canParse(wanted, ORIGIN)) return home
  const url = new URL(wanted, ORIGIN)
  // Browsers drop control characters and read "\" as "/", and so does URL: its reading counts.
  if (url.origin !== ORIGIN) return home
  const isScreen = url.pathname === home || url.pathname.startsWith(`${home}/`)
  const isTricky = /%2f|%5c|%2e/i.test(url.pathname) || url.pathname.includes('//')
  if (!isScreen || isTricky || DOORS.test(url.pathname.slice(base.length))) return home
  return url.pathname + url.search + url.hash
}
