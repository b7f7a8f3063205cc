/** The answer of the overview as a heading, and below it each trouble with its way out. */
import { useCall } from '../../api/queries.ts'
import { project } from '../../api/session.ts'
import {
  type MailAnswer,
  type ReceiverStanding,
  shortenNames,
  type Trouble,
} from '../../logic/answer.ts'
import { emailsPath } from '../../logic/email-links.ts'
import { shortTime } from '../../logic/format.ts'
import { codeText, locale, t } from '../../text/text.ts'
import { Icon } from '../../ui/icon.tsx'
import { link } from '../../ui/link.ts'
import { showOnboarding } from '../../ui/onboarding.ts'
import { place } from '../../ui/time.tsx'
import { receiverName } from './receiver-name.ts'

/** More troubles than these would hide the figures. */
const SHOWN = 4

type LoadedAnswer = MailAnswer & { isLoading: boolean }

/** The heading of the page; the name of the page while it is not known. */
export function headingText({ troubles, calm, isLoading }: LoadedAnswer): string {
  const [worst] = troubles
  if (worst !== undefined) {
    const trouble = headingOf(worst)
    return worst.tone === 'bad' || 'receivers' in worst ? trouble : t('answer.but', { trouble })
  }
  return isLoading ? t('nav.overview') : t(`answer.${calm}`)
}

function headingOf(trouble: Trouble): string {
  switch (trouble.kind) {
    case 'checks_failed':
    case 'checks_warning':
      return t(`answer.${trouble.kind}`, { count: trouble.checks.length })
    case 'cap_reached':
    case 'cap_near':
      return t(`answer.${trouble.kind}`, { category: t(`cap.${trouble.category}`) })
    case 'receivers_closed':
    case 'receivers_held':
    case 'receivers_slowed':
      return t(`answer.${trouble.kind}`, { names: listNames(trouble.receivers) })
    case 'domain_unverified':
      return t('answer.domain_unverified', { domain: trouble.domain })
    default:
      return t(`answer.${trouble.kind}`)
  }
}

function listNames(receivers: readonly ReceiverStanding[]): string {
  const { shown, others } = shortenNames(receivers.map(({ receiver }) => receiverName(receiver)))
  const names = others === 0 ? shown : [...shown, t('names.more', { count: others })]
  return new Intl.ListFormat(locale(), { type: 'conjunction' }).format(names)
}

export function Answers({ answer }: { answer: LoadedAnswer }) {
  const { troubles, calm, isLoading } = answer
  return (
    <div class="answers" aria-live="polite">
      {troubles.slice(0, SHOWN).map((trouble, index) => (
        <div key={trouble.kind} class={`note ${trouble.tone}`}>
          <Icon name="warn" />
          <div class="grow">
            {index > 0 && !('receivers' in trouble) && <b>{headingOf(trouble)}. </b>}
            <Explained trouble={trouble} />
          </div>
        </div>
      ))}
      {troubles.length === 0 && calm === 'unknown' && !isLoading && (
        <p class="note">{t('answer.unknown.text')}</p>
      )}
    </div>
  )
}

function Explained({ trouble }: { trouble: Trouble }) {
  switch (trouble.kind) {
    case 'disabled': {
      const { reason } = trouble
      const word = reason === null ? '' : (codeText('disabled', reason) ?? reason)
      return <>{t('answer.disabled.text', { reason: word })}</>
    }
    case 'checks_failed':
    case 'checks_warning':
      return <FailedChecks checks={trouble.checks} />
    case 'no_domain':
      return (
        <>
          {t('answer.no_domain.text')}{' '}
          <button
            class="text-button"
            type="button"
            onClick={() => showOnboarding(project.value?.id ?? '')}
          >
            {t('answer.no_domain.way')}
          </button>
        </>
      )
    case 'cap_reached':
      return <>{t('answer.cap_reached.text', { count: trouble.limit })}</>
    case 'cap_near':
      return <>{t('answer.cap_near.text', { usage: trouble.usage, limit: trouble.limit })}</>
    case 'bounces_critical':
    case 'bounces_warning':
      return <Way text="answer.bounces.text" way="answer.bounces.way" status="BOUNCED" />
    case 'complaints_critical':
    case 'complaints_warning':
      return <Way text="answer.complaints.text" way="answer.complaints.way" status="COMPLAINED" />
    case 'domain_unverified':
      return <>{t('answer.domain_unverified.text')}</>
    default:
      return (
        <>
          {trouble.receivers.map((receiver) => (
            <SlowReceiver key={receiver.receiver} receiver={receiver} />
          ))}
        </>
      )
  }
}

type WayProps = {
  text: 'answer.bounces.text' | 'answer.complaints.text'
  way: 'answer.bounces.way' | 'answer.complaints.way'
  status: string
}

function Way({ text, way, status }: WayProps) {
  return (
    <>
      {t(text)} <a href={link(emailsPath({ status }))}>{t(way)}</a>
    </>
  )
}

/** The words of the checks are the server's, in English, and name what to paste. */
function FailedChecks({
  checks,
}: {
  checks: Extract<Trouble, { kind: 'checks_failed' }>['checks']
}) {
  return (
    <ul lang="en">
      {checks.map(({ id, evidence, fix }) => (
        <li key={id}>
          <b lang={locale()}>{codeText('check', id) ?? id}</b>: {evidence}
          {fix !== null && <code class="code">{fix}</code>}
        </li>
      ))}
    </ul>
  )
}

/** What it says, how much waits, until when, and one email to read. */
function SlowReceiver({ receiver }: { receiver: ReceiverStanding }) {
  const { receiver: name, state, affected, reply, until } = receiver
  const one = useWaitingEmail(receiver)
  const shown = state as 'closed' | 'held' | 'slowed'
  return (
    <p>
      <b>{t(`answer.${shown}.title`, { name: receiverName(name) })}</b>{' '}
      {reply === null || state === 'held'
        ? t('answer.waits', { count: affected })
        : t('answer.waits.reply', { count: affected, reply: replyText(reply) })}{' '}
      {state === 'held'
        ? t('answer.held.text')
        : until === null
          ? t('answer.again', { count: affected })
          : t('answer.until', { time: shortTime(until, new Date(), place()) })}{' '}
      {one !== undefined && <a href={link(`/emails/${one}`)}>{t('answer.one')}</a>}
    </p>
  )
}

/** The words of the receiver; the code stands before them unless they begin with it. */
function replyText({ code, text }: NonNullable<ReceiverStanding['reply']>): string {
  return code === null || text.startsWith(String(code)) ? text : `${code} ${text}`
}

/** The id of one email that waits for the receiver. */
function useWaitingEmail({ domains }: ReceiverStanding): string | undefined {
  const [domain] = domains
  const { data } = useCall(
    'GET /emails',
    { query: { status: 'PENDING', limit: 1, ...(domain !== undefined && { domain }) } },
    { isEnabled: domain !== undefined },
  )
  return data?.data[0]?.id
}
