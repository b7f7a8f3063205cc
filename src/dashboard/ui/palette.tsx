/**
 * The palette: one field, one ranked list. Pages and actions are found here, things by the server. The list is
 * a listbox that the field commands (WAI-ARIA, combobox with a list).
 */

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { type Answer, base } from '../api/client.ts'
import { useCall } from '../api/queries.ts'
import { project, projects, signOut } from '../api/session.ts'
import { emailsPath } from '../logic/email-links.ts'
import {
  chosenPlace,
  createMatch,
  isSearchable,
  namesThing,
  nextPlace,
  type PaletteEntry,
  parseRecent,
  withRecent,
} from '../logic/palette.ts'
import { palette as paletteTexts } from '../text/en/palette.ts'
import { addTexts, codeText, locale, type TextKey, t } from '../text/text.ts'
import { DENSITIES, setDensity, setTheme, THEMES } from './appearance.ts'
import { Dialog } from './dialog.tsx'
import { link, outer } from './link.ts'
import { NAV_ITEMS } from './nav.ts'
import { showOnboarding } from './onboarding.ts'
import { Failed } from './state.tsx'
import { useDelayed } from './use-delayed.ts'

addTexts(paletteTexts)

type Entry = PaletteEntry & { run(): void }
type Hit = Answer<'GET /search'>[number]
type PaletteProps = { onClose(): void }

const STORED = 'pillarbox.recent'
/** How long the text rests before the server is asked. */
const SEARCH_DELAY_MS = 120

export default function Palette({ onClose }: PaletteProps) {
  const { route } = useLocation()
  const [text, setText] = useState('')
  /** The entry that the person went to; without one, the first is chosen. */
  const [chosen, setChosen] = useState<string>()
  /** The text for which Enter was pressed before the server had answered. */
  const [awaited, setAwaited] = useState<string>()
  const list = useRef<HTMLDivElement>(null)
  const field = useRef<HTMLInputElement>(null)
  const recent = useMemo(readRecent, [])
  const match = useMemo(
    () => createMatch(listEntries(route)),
    [project.value, projects.value, locale()],
  )
  const own = useMemo(() => match(text, recent), [match, text])
  const { hits, isLooking, failure, lookAgain } = useSearch(text)
  const things = hits.flatMap((hit) => toEntry(hit, route) ?? [])
  const isNamed = namesThing(text)
  // What was named exactly stands first. Otherwise hits come below, so that no row moves when they do.
  const shown = isNamed ? [...things, ...own] : [...own, ...things]
  const current = chosenPlace(shown, chosen, { isLooking, isNamed })

  // The dialog gives the focus to its closing button, which stands before the field.
  useEffect(() => field.current?.focus(), [])
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [current])
  useEffect(() => {
    if (awaited === undefined || isLooking) return
    setAwaited(undefined)
    if (awaited === text) open(things[0])
  }, [awaited, isLooking, text])

  const open = (entry: Entry | undefined) => {
    if (entry === undefined) return
    if (own.includes(entry))
      localStorage.setItem(STORED, JSON.stringify(withRecent(recent, entry.id)))
    onClose()
    entry.run()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined) setChosen(shown[nextPlace(current, step, shown.length)]?.id)
    else if (event.key !== 'Enter' || event.isComposing) return
    else if (current === -1) setAwaited(text)
    else open(shown[current])
    event.preventDefault()
  }
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
        aria-activedescendant={current === -1 ? undefined : `palette-${current}`}
        placeholder={t('palette.placeholder')}
        autoComplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value)
          setChosen(undefined)
          setAwaited(undefined)
        }}
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
            onPointerMove={() => setChosen(entry.id)}
          >
            <span class="grow cut">{entry.title}</span>
            <span class="muted">{entry.detail}</span>
          </div>
        ))}
      </div>
      {failure !== null && (
        <Failed
          error={failure}
          title={t('palette.failed')}
          onRetry={() => {
            field.current?.focus()
            lookAgain()
          }}
        />
      )}
      <p class="small muted" role="status">
        {isLooking ? t('palette.looking') : failure === null && foundText(hits, shown.length)}
      </p>
    </Dialog>
  )
}

/** How much is found; of what has no page in the dashboard, its kinds. */
function foundText(hits: readonly Hit[], count: number): string {
  if (count > 0) return t('palette.found', { count })
  if (hits.length === 0) return t('palette.none')
  const kinds = new Set(hits.map(({ kind }) => t(`kind.${kind}`)))
  return t('palette.noPage', { kinds: [...kinds].join(', ') })
}

type Search = { hits: readonly Hit[]; isLooking: boolean; failure: Error | null; lookAgain(): void }

/** What the server finds for this very text: hits and failures of an older one are none of it. */
function useSearch(text: string): Search {
  const wanted = text.trim()
  const asked = useDelayed(wanted, SEARCH_DELAY_MS)
  const isEnabled = isSearchable(wanted) && project.value !== undefined
  const { data, error, isFetching, refetch } = useCall(
    'GET /search',
    { query: { q: asked } },
    { isEnabled: isEnabled && asked === wanted },
  )
  const isAnswered = isEnabled && asked === wanted
  const hits = (isAnswered && data) || []
  return {
    hits,
    isLooking: isEnabled && (!isAnswered || (isFetching && hits.length === 0)),
    failure: isAnswered && !isFetching ? error : null,
    lookAgain: () => void refetch(),
  }
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
    action('sign-out', t('shell.signOut'), () => void signOut()),
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
    contact: link(emailsPath({ q: title })),
  }[kind as string]
  if (url === undefined) return undefined
  const state = kind === 'contact' ? codeText('contact', detail ?? '') : undefined
  const words = [state ?? detail, t(`kind.${kind}`)].filter((one) => one !== null)
  return { id: `${kind}/${id}`, title, detail: words.join(' · '), run: () => route(url) }
}

function readRecent(): string[] {
  return parseRecent(localStorage.getItem(STORED))
}
