/** The states of a screen or of a part of one, besides its content: loading, empty, no match, failed, not found. */
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { ApiFailure } from '../api/client.ts'
import { codeText, t, tx } from '../text/text.ts'
import { Copy } from './copy.tsx'
import { useCountdown } from './countdown.ts'
import { Icon } from './icon.tsx'
import { act } from './keys.ts'
import { link } from './link.ts'
import { Stamp } from './stamp.tsx'
import { Time } from './time.tsx'

/** How long a screen stays as it is before it says that it loads. */
const QUIET_MS = 150

/** Rows in their final height. Nothing shows at first, so that a quick answer does not flicker. */
export function Loading({ rows = 8 }: { rows?: number }) {
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), QUIET_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div class={`skeleton ${isShown ? 'on' : ''}`} aria-busy="true">
      <span class="sr" role="status">
        {isShown ? t('state.loading') : ''}
      </span>
      {Array.from({ length: rows }, (_, index) => (
        <i key={index} />
      ))}
    </div>
  )
}

type FailedProps = {
  error: unknown
  onRetry?(): void
  title?: string
  /** When what stands beside was read, epoch milliseconds; 0 where nothing stands. */
  asOf?: number
}

/** What failed, what to do, and the id of the request. It stands in the place of the part that failed. */
export function Failed({ error, onRetry, title = t('failed.title'), asOf = 0 }: FailedProps) {
  const failure =
    error instanceof ApiFailure ? error : new ApiFailure('INTERNAL_SERVER_ERROR', String(error))
  const text = codeText('failed', failure.code)
  return (
    <div class="note bad failed" role="alert">
      <Icon name="warn" />
      <div class="grow">
        <p>
          <b>
            {asOf === 0
              ? title
              : tx('failed.old', { time: <Time at={new Date(asOf).toISOString()} /> })}
          </b>
        </p>
        <p>
          {text ?? <span lang="en">{failure.message}</span>}{' '}
          {text === undefined && failure.suggestion !== undefined && (
            <span lang="en">{failure.suggestion}</span>
          )}
        </p>
        {/* It changes with each failure, and by the second: the alert is read out once. */}
        <p class="row" aria-live="off">
          {onRetry !== undefined && (
            <Retry wait={failure.retryAfter} since={error} onRetry={onRetry} />
          )}
          {failure.requestId !== undefined && (
            <>
              <span class="muted mono">{t('state.requestId', { id: failure.requestId })}</span>
              <Copy text={failure.requestId} isIcon />
            </>
          )}
        </p>
      </div>
    </div>
  )
}

type RetryProps = { wait?: number | undefined; since: unknown; onRetry(): void }

/** Counts down while the server asks to wait. `since`: the failure that asked. */
function Retry({ wait = 0, since, onRetry }: RetryProps) {
  const left = useCountdown(wait, since)
  const [tried, setTried] = useState<unknown>()
  const again = () => {
    setTried(since)
    onRetry()
  }
  const text = t(tried === since ? 'state.loading' : 'state.again')
  return (
    <button class="btn" type="button" disabled={left > 0} onClick={again}>
      {left > 0 ? t('state.againIn', { count: left }) : text}
    </button>
  )
}

type EmptyProps = { title: string; children?: ComponentChildren }

/** Nothing exists yet. */
export function Empty({ title, children }: EmptyProps) {
  return (
    <div class="empty">
      <Stamp />
      <h2>{title}</h2>
      {children}
    </div>
  )
}

/** Things exist, and the filter matches none. */
export function NoMatch({ filter, onClear }: { filter: string; onClear(): void }) {
  return (
    <div class="empty" role="status">
      <h2>{t('state.noMatch')}</h2>
      <p class="muted">{filter}</p>
      <p>
        <button class="btn" type="button" onClick={onClear}>
          {t('state.clear')}
        </button>
      </p>
    </div>
  )
}

export function NotFound({ text = t('state.notFound.text') }: { text?: string }) {
  return (
    <div class="empty">
      <h2>{t('state.notFound')}</h2>
      <p class="muted">{text}</p>
      <WaysOut />
    </div>
  )
}

/** From an address that leads nowhere: the search of the frame, and the overview. */
export function WaysOut() {
  return (
    <p>
      <button class="btn" type="button" onClick={() => act('mod+k')}>
        {t('shell.search')}
      </button>{' '}
      <a class="btn" href={link('/')}>
        {t('state.home')}
      </a>
    </p>
  )
}
