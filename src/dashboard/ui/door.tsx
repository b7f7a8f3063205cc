/** The frame of screens before the dashboard: signing in and up, a forgotten password, the set-up of the server. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import {
  LANGUAGES,
  type LanguageCode,
  locale,
  rememberLanguage,
  setLanguage,
  t,
} from '../text/text.ts'
import { Mark } from './icon.tsx'
import { markShown, moveFocus } from './page.tsx'
import { Stamp } from './stamp.tsx'

type DoorProps = {
  title: string
  /** The name of the server; the page of a server that is not set up tells nothing. */
  host?: string
  isWide?: boolean
  children: ComponentChildren
}

export function Door({ title, host, isWide = false, children }: DoorProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  const box = useRef<HTMLDivElement>(null)
  const openedAt = useRef(new Date())
  useLayoutEffect(() => {
    document.title = `${title} · Pillarbox`
    // A field that took the focus keeps it.
    moveFocus(() => {
      if (box.current?.contains(document.activeElement) !== true) heading.current?.focus()
    })
    markShown()
  }, [title])
  return (
    <main class="door" id="main">
      <div class={`box ${isWide ? 'wide' : ''}`} ref={box}>
        <p class="brand">
          <Mark />
          <b>Pillarbox</b>
          {host !== undefined && <span class="muted cut">{host}</span>}
        </p>
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {children}
        <Languages />
      </div>
      <div class="post">
        <Stamp at={openedAt.current} />
      </div>
    </main>
  )
}

function Languages() {
  const choose = (code: LanguageCode) => {
    rememberLanguage(code)
    void setLanguage(code)
  }
  return (
    <ul class="languages row" aria-label={t('door.languages')}>
      {Object.entries(LANGUAGES).map(([code, name]) => (
        <li key={code} lang={code}>
          <button
            class="linklike"
            type="button"
            aria-pressed={code === locale()}
            onClick={() => choose(code as LanguageCode)}
          >
            {name}
          </button>
        </li>
      ))}
    </ul>
  )
}
