/**
 * The files of a screen are asked for at once. A browser would learn of the files that a script imports only when it
 * has that script: one more way to the server and back. The page names the files of each screen.
 */

let named: Record<string, string[]> | undefined

/** The first call for an `address` counts: what is there or under way is not asked for again. */
export function askForFiles(address: string): void {
  named ??= JSON.parse(document.getElementById('screens')?.textContent ?? '{}') as typeof named
  for (const name of named?.[address]?.splice(0) ?? []) {
    const link = document.createElement('link')
    link.rel = 'modulepreload'
    link.href = new URL(name, import.meta.url).href
    document.head.append(link)
  }
}
