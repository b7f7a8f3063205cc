/** The email itself: as the recipient sees it, as text, its header fields, and its source. */
import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { address, callText } from '../../api/client.ts'
import { useLoaded } from '../../api/queries.ts'
import { bytes } from '../../logic/format.ts'
import { decodeWords, plainTextOf, readSource } from '../../logic/mime.ts'
import { visible } from '../../logic/visible.ts'
import { locale, t } from '../../text/text.ts'
import { MailFrame } from '../../ui/mail-frame.tsx'
import { Failed, Loading } from '../../ui/state.tsx'
import type { EmailRecord } from './record.ts'

type ContentProps = { email: EmailRecord }

export type ContentView = 'mail' | 'text' | 'headers' | 'source'

const VIEWS = { mail: Mail, text: PlainText, headers: Headers, source: SourceText }

export default function Content({ email, view }: ContentProps & { view: ContentView }) {
  const View = VIEWS[view]
  return <View email={email} />
}

/** More of a source is of no use to the eye, and slow to lay out. */
const SHOWN_SOURCE = 200_000

function Mail({ email: { body, text } }: ContentProps) {
  const [hasImages, setImages] = useState(false)
  const [isNarrow, setNarrow] = useState(false)
  const [isDark, setDark] = useState(false)
  if (body === null) {
    if (text !== null) return <pre class="machine-text">{visible(text)}</pre>
    return <p class="muted">{t('mail.cleared')}</p>
  }
  return (
    <>
      <div class="row tools">
        <fieldset class="row" aria-label={t('mail.width')}>
          {[false, true].map((narrow) => (
            <button
              key={String(narrow)}
              class="btn"
              type="button"
              aria-pressed={isNarrow === narrow}
              onClick={() => setNarrow(narrow)}
            >
              {t(narrow ? 'mail.width.phone' : 'mail.width.full')}
            </button>
          ))}
        </fieldset>
        <button class="btn" type="button" aria-pressed={isDark} onClick={() => setDark(!isDark)}>
          {t('mail.dark')}
        </button>
        <span class="grow" />
        {!hasImages && (
          <button class="btn" type="button" onClick={() => setImages(true)}>
            {t('mail.images')}
          </button>
        )}
      </div>
      <p class="small muted" role="status">
        {t(hasImages ? 'mail.images.shown' : 'mail.images.text')}
      </p>
      <MailFrame html={body} title={t('mail.frame')} {...{ hasImages, isNarrow, isDark }} />
    </>
  )
}

function PlainText({ email }: ContentProps) {
  const { text } = email
  if (text !== null) return <pre class="machine-text">{visible(text)}</pre>
  return (
    <WithSource email={email}>
      {(source) => {
        const found = plainTextOf(source)
        if (found === undefined) return <p class="muted">{t('mail.noText')}</p>
        return <pre class="machine-text">{visible(found)}</pre>
      }}
    </WithSource>
  )
}

function Headers({ email }: ContentProps) {
  return (
    <WithSource email={email}>
      {(source) => (
        <dl class="facts headers">
          {readSource(source).fields.map(({ name, value }, index) => (
            <div key={index}>
              <dt>{visible(name)}</dt>
              <dd class="mono xs">{visible(decodeWords(value))}</dd>
            </div>
          ))}
        </dl>
      )}
    </WithSource>
  )
}

function SourceText({ email }: ContentProps) {
  const file = `${address('GET /emails/{id}/raw', { id: email.id })}?projectId=${email.projectId}`
  return (
    <>
      <p class="row tools">
        <a class="btn" href={file} download={`${email.id}.eml`}>
          {t('mail.download')}
        </a>
        <span class="small muted grow">{t('mail.source.text')}</span>
      </p>
      <WithSource email={email}>
        {(source) => (
          <>
            {source.length > SHOWN_SOURCE && (
              <p class="small">{t('mail.source.large', { size: bytes(SHOWN_SOURCE, locale()) })}</p>
            )}
            <pre class="code machine-text">
              {visible(source.slice(0, SHOWN_SOURCE).replaceAll('\r\n', '\n'))}
            </pre>
          </>
        )}
      </WithSource>
    </>
  )
}

type WithSourceProps = ContentProps & { children(source: string): ComponentChildren }

function WithSource({ email: { id, projectId }, children }: WithSourceProps) {
  const input = { params: { id }, project: projectId }
  const { data, error, refetch } = useLoaded(['source', projectId, id], (signal) =>
    callText('GET /emails/{id}/raw', { ...input, signal }),
  )
  const shown = useMemo(() => (data === undefined ? null : children(data)), [data])
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />
  return data === undefined ? <Loading rows={6} /> : shown
}
