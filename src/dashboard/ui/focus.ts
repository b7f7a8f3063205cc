/** The focus of what appears after something was done. */
import { useLayoutEffect } from 'preact/hooks'
import { moveFocus } from './page.tsx'

/** Gives the focus to the input `name` of the form when it appears. */
export function useFocusIn(form: { current: HTMLFormElement | null }, name: string): void {
  useLayoutEffect(() => {
    const input = form.current?.elements.namedItem(name)
    if (!(input instanceof HTMLElement)) return
    // A dialog that opens with the form gives the focus to its first field before that.
    moveFocus(() => input.focus({ preventScroll: true }))
  }, [])
}
