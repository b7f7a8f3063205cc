/**
 * The palette: one field, one ranked list. Pages and actions are found here, things by the server. The list is
 * a listbox that the field commands (WAI-ARIA, combobox with a list).
 */

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { useCall } from '../api/queries.ts'
import { project, projects } from '../api/session.ts'
import {
  addressIn,
  chosenPlace,
  createMatch,
  isSearchable,
  namesThing,
  nextPlace,
  parseRecent,
  withRecent,
} from '../logic/palette.ts'
import { keep, readKept } from '../logic/storage.ts'
import { palette as paletteTexts } from '../text/en/palette.ts'
import { addTexts, locale, t } from '../text/text.ts'
import { Dialog } from './dialog.tsx'
import { type Entry, type Hit, listEntries, suppressEntry, toEntry } from './palette-entries.ts'
import { Failed } from './state.tsx'
import { Suppress } from './suppress.tsx'
import { useDelayed } from './use-delayed.ts'

addTexts(paletteTexts)

/** `onKeys`: shows the keys of the page in place of the palette. */
type PaletteProps = { onClose(): void; onKeys(): void }

const STORED = 'pillarbox.recent'
/** How long the text rests before the server is asked. */
const SEARCH_DELAY_MS = 120

export default function Palette({ onClose, onKeys }: PaletteProps) {
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
    () => createMatch(listEntries({ route, onKeys })),
    [project.value, projects.value, locale()],
  )
  const [suppressed, setSuppressed] = useState<Wanted>()
  const own = useMemo(() => match(text, recent), [match, text])
  const address = addressIn(text)
  const projectId = project.value?.id
  const { hits, isLooking, failure, lookAgain } = useSearch(text)
  const things = hits.flatMap((hit) => toEntry(hit, route) ?? [])
  const isNamed = namesThing(text)
  const local =
    address === undefined || projectId === undefined
      ? own
      : [...own, suppressEntry(address, () => setSuppressed({ project: projectId, address }))]
  // What was named exactly stands first. Otherwise hits come below, so that no row moves when they do.
  const shown = isNamed ? [...things, ...local] : [...local, ...things]
  const current = chosenPlace(shown, chosen, { isLooking, isNamed })

  // The dialog gives the focus to its closing button, which stands before the field.
  useLayoutEffect(() => field.current?.focus(), [])
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
    if (own.includes(entry)) keep(STORED, JSON.stringify(withRecent(recent, entry.id)))
    // Suppressing asks first, in place of the palette.
    if (entry.id !== 'suppress') onClose()
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
  if (suppressed !== undefined) return <SuppressFound {...suppressed} onClose={onClose} />
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
            <span class="grow">{entry.title}</span>
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

type Wanted = { project: string; address: string }

function SuppressFound({ project: id, address, onClose }: Wanted & { onClose(): void }) {
  const [added, setAdded] = useState<number>()
  if (added === undefined) {
    return (
      <Suppress
        {...{ project: id, address, onClose }}
        onDone={(answer) => setAdded(answer.added)}
      />
    )
  }
  return (
    <Dialog title={t('action.suppress.title', { to: address })} onClose={onClose}>
      <p role="status">{t(`action.done.${added === 0 ? 'wasSuppressed' : 'suppressed'}`)}</p>
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

function readRecent(): string[] {
  return parseRecent(readKept(STORED))
}
