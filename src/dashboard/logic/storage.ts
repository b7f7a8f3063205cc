/**
 * What this browser keeps between visits. It may refuse to keep anything, or have no room: then the page keeps it in its
 * memory until it is closed, and works on.
 */
const inMemory = new Map<string, string>()

export function readKept(key: string): string | null {
  try {
    return inMemory.get(key) ?? localStorage.getItem(key)
  } catch {
    return null
  }
}

/** `text`: undefined keeps nothing. */
export function keep(key: string, text: string | undefined): void {
  inMemory.delete(key)
  try {
    if (text === undefined) localStorage.removeItem(key)
    else localStorage.setItem(key, text)
  } catch {
    if (text !== undefined) inMemory.set(key, text)
  }
}

/** Removes what this tab keeps. */
export function clearTab(): void {
  try {
    sessionStorage.clear()
  } catch {
    // A browser that refuses it keeps nothing there.
  }
}
