/** The first mail: its postmark, what became of it, and the way to its story. */
import type { Answer } from '../../api/client.ts'
import { firstOutcome, markedAt } from '../../logic/onboarding.ts'
import { rowReason } from '../../logic/row-reason.ts'
import type { Tone } from '../../logic/tone.ts'
import { visible } from '../../logic/visible.ts'
import { t } from '../../text/text.ts'
import { link } from '../../ui/link.ts'
import { PhraseText } from '../../ui/phrase.tsx'
import { Stamp } from '../../ui/stamp.tsx'
import { Failed } from '../../ui/state.tsx'
import { Status } from '../../ui/status.tsx'

export type FirstEmail = Answer<'GET /emails'>['data'][number]

const TONES: Readonly<Record<string, Tone>> = { waiting: 'live', arrived: 'good', failed: 'bad' }

type FirstMailBoxProps = {
  email: FirstEmail | undefined
  error: unknown
  /** When the mail was looked for, epoch milliseconds. */
  asOf: number
  onRetry(): void
}

export function FirstMailBox({ email, error, asOf, onRetry }: FirstMailBoxProps) {
  if (error !== null) {
    return (
      <>
        <Failed error={error} onRetry={onRetry} asOf={asOf} />
        {email !== undefined && <Mailbox email={email} />}
      </>
    )
  }
  return <Mailbox email={email} />
}

function Mailbox({ email }: Pick<FirstMailBoxProps, 'email'>) {
  return (
    <div class="empty mailbox" role="status">
      {email === undefined ? (
        <>
          <Stamp />
          <h2>{t('first.nothing')}</h2>
          <p class="muted">{t('first.nothing.text')}</p>
        </>
      ) : (
        <Told email={email} />
      )}
    </div>
  )
}

/** In a line: what became of the mail. */
export function Outcome({ email }: { email: FirstEmail }) {
  const outcome = firstOutcome(email)
  const address = email.recipientAddress
  // A relay takes the mail; what its receiver did is not known.
  const said = outcome === 'arrived' && email.status === 'SENT' ? 'relayed' : outcome
  return <Status tone={TONES[outcome] ?? 'off'}>{t(`first.${said}`, { address })}</Status>
}

function Told({ email }: { email: FirstEmail }) {
  const outcome = firstOutcome(email)
  return (
    <>
      {outcome === 'arrived' ? <Stamp at={new Date(markedAt(email))} /> : <Stamp />}
      <h2>{email.subject}</h2>
      <p>
        <Outcome email={email} />
      </p>
      {outcome !== 'arrived' && <Why email={email} />}
      <p>
        <a class="btn main" href={link(`/emails/${email.id}`)}>
          {t('first.read.link')}
        </a>
      </p>
    </>
  )
}

/** Why it is not there yet, or never will be. */
function Why({ email }: { email: FirstEmail }) {
  const phrase = rowReason(email)
  if (phrase === undefined) return <p lang="en">{visible(email.reason)}</p>
  return (
    <p class="muted">
      <PhraseText phrase={phrase} />
    </p>
  )
}
