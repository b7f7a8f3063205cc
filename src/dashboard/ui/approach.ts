/**
 * The part of a screen is loaded as soon as somebody points at a link to it, touches it or gives it the focus, so
 * that the click finds it there. A browser that saves data loads it at the click.
 */
import type { LazyPart } from './lazy.tsx'

/** A touch begins with a pointer over the link too. */
const APPROACHES = ['pointerover', 'focusin'] as const

/** `find`: the part of the screen at a path of this origin. */
export function loadOnApproach(find: (path: string) => LazyPart | undefined): void {
  const look = ({ target }: Event) => {
    const link = target instanceof Element ? target.closest('a') : null
    if (link?.origin !== location.origin || savesData()) return
    void find(link.pathname)?.preload()
  }
  for (const name of APPROACHES) addEventListener(name, look, { passive: true })
}

/** Not all browsers tell. */
function savesData(): boolean {
  const { connection } = navigator as { connection?: { saveData?: boolean } }
  return connection?.saveData === true
}
