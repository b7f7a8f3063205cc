/** The head of a screen: its one `h1`, which takes the focus after navigation, and the title of the tab. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

type PageProps = {
  /** The thing or the screen, for the tab. */
  title: string
  heading?: ComponentChildren
  /** Where the screen stands: links above the heading. */
  trail?: ComponentChildren
  text?: ComponentChildren
  actions?: ComponentChildren
  children?: ComponentChildren
}

let hasShownPage = false

/** The person has seen a screen, so the next heading takes the focus. */
export function markShown(): void {
  hasShownPage = true
}

/**
 * Moves the focus once what appeared is drawn. The first screen is laid out before, in its frame: nobody can have
 * pressed a key yet.
 */
export function moveFocus(move: () => void): void {
  if (hasShownPage) queueMicrotask(move)
  else requestAnimationFrame(move)
}

export function Page({ title, heading = title, trail, text, actions, children }: PageProps) {
  const element = useRef<HTMLHeadingElement>(null)
  // With the heading: who hears the title and who sees the focus are at the same screen.
  useLayoutEffect(() => {
    document.title = `${title} · Pillarbox`
  }, [title])
  // Before the other effects: a list that finds its row again gives the focus to that.
  useLayoutEffect(() => {
    if (hasShownPage) element.current?.focus({ preventScroll: true })
    markShown()
  }, [])
  return (
    <>
      <div class="head">
        <div class="grow">
          {trail !== undefined && <p class="trail small">{trail}</p>}
          <h1 ref={element} tabIndex={-1}>
            {heading}
          </h1>
          {text !== undefined && <p>{text}</p>}
        </div>
        {actions}
      </div>
      {children}
    </>
  )
}
