/** Addresses of the page. A proxy may serve the program below a path, and the scripts know that path from their own. */

/** The path before `/app`: `''`, or for example `/mail`. */
export function basePath(scriptUrl: string): string {
  const { pathname } = new URL(scriptUrl)
  const at = pathname.lastIndexOf('/app/assets/')
  return at === -1 ? '' : pathname.slice(0, at)
}

/** The project in a path of the dashboard; undefined on pages without one. `path` begins with `/app`. */
export function projectOf(path: string): string | undefined {
  const id = /^\/app\/([0-9a-f]{8}-[0-9a-f-]{27})(?:\/|$)/.exec(path)?.[1]
  return id
}
