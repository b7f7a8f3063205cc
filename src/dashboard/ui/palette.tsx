/**
 * The palette: one field, one ranked list. Pages and actions are found here, things by the server. The list is
 * a listbox that the field commands (WAI-ARIA, combobox with a list).
 */

import { useEffect, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { type Answer, base } from '../api/client.ts'
import { useCall } from '../api/queries.ts'
import { project, projects, signOut } from '../api/session.ts'
import { isSearchable, type PaletteEntry, rankEntries, withRecent } from '../logic/palette.ts'
import { palette as paletteTexts } from '../text/en/palette.ts'
import { addTexts, type TextKey, t } from '../text/text.ts'
import { DENSITIES, setDensity, setTheme, THEMES } from './appearance.ts'
import { Dialog } from './dialog.tsx'
import { link, outer } from './link.ts'
import { NAV_ITEMS } from './nav.ts'
import { showOnboarding } from './onboarding.ts'
import { toast } from './toast.tsx'
import { useDelayed } from './use-delayed.ts'

addTexts(paletteTexts)

type Entry = PaletteEntry & { run(): void }
type Hit = Answer<'GET /search'>[number]

const STORED = 'pillarbox.recent'
/** How long the text rests before the server is asked. */
const SEARCH_DELAY_MS = 120

export default function Palette({ onClose }: { onClose(): void }) {
  const { route } = useLocation()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const list = useRef<HTMLDivElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const wanted = useDelayed(text.trim(), SEARCH_DELAY_MS)
  const search = useCall(
    'GET /search',
    { query: { q: wanted } },
    { isEnabled: isSearchable(wanted) && project.value !== undefined },
  )
  const hits = isSearchable(text) ? (search.data ?? []) : []
  const own = rankEntries(listEntries(route), text, readRecent())
  const things = hits.flatMap((hit) => toEntry(hit, route) ?? [])
  // A thing that was named exactly stands before what merely resembles the text.
  const shown = [...things, ...own]
  const current = Math.min(chosen, Math.max(0, shown.length - 1))

  // The dialog gives the focus to its closing button, which stands before the field.
  useEffect(() => field.current?.focus(), [])
  useEffect(() => setChosen(0), [text])
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [current])

  const open = (entry: Entry | undefined) => {
    if (entry === undefined) return
    localStorage.setItem(STORED, JSON.stringify(withRecent(readRecent(), entry.id)))
    onClose()
    entry.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setChosen((current + step + shown.length) % Math.max(1, shown.length))
    else if (event.key === 'Enter' && !event.isComposing) open(shown[current])
    else return
    event.preventDefault()
  }
  const isLooking = isSearchable(text) && (search.isFetching || wanted !== text.trim())
  return (
    <Dialog title={t('shell.search')} onClose={onClose} class="palette">
      <input
        ref={field}
        class="input"
        type="text"
        role="combobox"
        aria-label={t('shell.search')}
        aria-expanded="true"
        aria-controls="palette-list"
        aria-autocomplete="list"
        aria-activedescendant={shown.length > 0 ? `palette-${current}` : undefined}
        placeholder={t('palette.placeholder')}
        autoComplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      <div id="palette-list" ref={list} role="listbox" aria-label={t('shell.search')}>
        {shown.map((entry, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys of the list.
          <div
            key={entry.id}
            id={`palette-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === current}
            onClick={() => open(entry)}
            onPointerMove={() => setChosen(at)}
          >
            <span class="grow cut">{entry.title}</span>
            <span class="muted">{entry.detail}</span>
          </div>
        ))}
      </div>
      <p class="small muted" role="status">
        {isLooking && shown.length === 0
          ? t('palette.looking')
          : shown.length === 0
            ? t('palette.none')
            : t('palette.found', { count: shown.length })}
      </p>
    </Dialog>
  )
}

function listEntries(route: (url: string) => void): Entry[] {
  const page = (id: string, label: TextKey, url: string): Entry => ({
    id,
    title: t(label),
    detail: t('palette.page'),
    run: () => route(url),
  })
  const action = (id: string, title: string, run: () => void): Entry => ({
    ...{ id, title, run },
    detail: t('palette.action'),
  })
  return [
    ...(project.value === undefined
      ? []
      : NAV_ITEMS.map(({ screen, label }) => page(`page${screen}`, label, link(screen)))),
    ...(project.value === undefined ? [] : [firstSteps(project.value.id, route)]),
    page('account', 'shell.account', outer('/me')),
    page('new-project', 'palette.newProject', outer('/projects/new')),
    ...projects.value
      .filter(({ id }) => id !== project.value?.id)
      .map(({ id, name }) =>
        action(`project/${id}`, t('palette.switch', { name }), () => route(`${base}/app/${id}`)),
      ),
    ...THEMES.map((name) =>
      action(`theme/${name}`, t('palette.theme', { name: t(`theme.${name}`) }), () =>
        setTheme(name),
      ),
    ),
    ...DENSITIES.map((name) =>
      action(`density/${name}`, t('palette.density', { name: t(`density.${name}`) }), () =>
        setDensity(name),
      ),
    ),
    action('sign-out', t('shell.signOut'), () => {
      // The palette is closed by then.
      signOut().catch(() => toast(t('shell.signOut.failed')))
    }),
  ]
}

function firstSteps(projectId: string, route: (url: string) => void): Entry {
  return {
    ...{ id: 'first-steps', title: t('palette.first'), detail: t('palette.action') },
    run: () => {
      showOnboarding(projectId)
      route(link('/'))
    },
  }
}

/** The screen of a thing; undefined for a kind that has none. A contact leads to the mail to its address. */
function toEntry(
  { kind, id, title, detail }: Hit,
  route: (url: string) => void,
): Entry | undefined {
  const url = {
    email: link(`/emails/${id}`),
    contact: link(`/emails?search=${encodeURIComponent(title)}`),
  }[kind as string]
  if (url === undefined) return undefined
  const words = [detail, t(`kind.${kind}`)].filter((one) => one !== null)
  return { id: `${kind}/${id}`, title, detail: words.join(' · '), run: () => route(url) }
}

function readRecent(): string[] {
  try {
    return JSON.parse(localStorage.getItem(STORED) ?? '[]')
  } catch {
    return []
  }
}
