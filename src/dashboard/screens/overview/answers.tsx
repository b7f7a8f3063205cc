/** The answer of the overview as a heading, and below it each trouble with its way out. */
import { useCall, useProjectId } from '../../api/queries.ts'
import { type ReceiverStanding, shortenNames, type Trouble } from '../../logic/answer.ts'
import { emailsPath, oneWaiting } from '../../logic/email-links.ts'
import { shortTime } from '../../logic/format.ts'
import { codeText, locale, t } from '../../text/text.ts'
import { Icon } from '../../ui/icon.tsx'
import { link } from '../../ui/link.ts'
import { showOnboarding } from '../../ui/onboarding.ts'
import { Failed } from '../../ui/state.tsx'
import { place } from '../../ui/time.tsx'
import type { LoadedAnswer } from './facts.ts'
import { receiverName } from './receiver-name.ts'

/** More troubles than these would hide the figures. */
const SHOWN = 4

/** The heading of the page; the name of the page while it is not known. */
export function headingText({ troubles, calm, isLoading }: LoadedAnswer): string {
  const [worst] = troubles
  if (worst !== undefined) {
    const trouble = headingOf(worst)
    return worst.tone === 'bad' || 'receivers' in worst ? trouble : t('flow.but', { trouble })
  }
  return isLoading ? t('nav.overview') : t(`flow.${calm}`)
}

function headingOf(trouble: Trouble): string {
  switch (trouble.kind) {
    case 'checks_failed':
    case 'checks_warning':
      return t(`flow.${trouble.kind}`, { count: trouble.checks.length })
    case 'cap_reached':
    case 'cap_near':
      return t(`flow.${trouble.kind}`, { category: t(`cap.${trouble.category}`) })
    case 'receivers_closed':
    case 'receivers_held':
    case 'receivers_slowed':
      return t(`flow.${trouble.kind}`, { names: listNames(trouble.receivers) })
    case 'domain_unverified':
      return t('flow.domain_unverified', { domain: trouble.domain })
    default:
      return t(`flow.${trouble.kind}`)
  }
}

function listNames(receivers: readonly ReceiverStanding[]): string {
  const { shown, others } = shortenNames(receivers.map(({ receiver }) => receiverName(receiver)))
  const names = others === 0 ? shown : [...shown, t('names.more', { count: others })]
  return new Intl.ListFormat(locale(), { type: 'conjunction' }).format(names)
}

export function Answers({ answer }: { answer: LoadedAnswer }) {
  const { troubles, calm, isLoading, failure, asOf, retry } = answer
  return (
    <div class="answers" aria-live="polite">
      {failure !== undefined && <Failed error={failure} asOf={asOf} onRetry={retry} />}
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
        <p class="note">{t('flow.unknown.text')}</p>
      )}
    </div>
  )
}

function Explained({ trouble }: { trouble: Trouble }) {
  const projectId = useProjectId() ?? ''
  switch (trouble.kind) {
    case 'disabled': {
      const { reason } = trouble
      const word = reason === null ? '' : (codeText('disabled', reason) ?? reason)
      return <>{t('flow.disabled.text', { reason: word })}</>
    }
    case 'checks_failed':
    case 'checks_warning':
      return <FailedChecks checks={trouble.checks} isOpen={trouble.tone === 'bad'} />
    case 'no_domain':
      return (
        <>
          {t('flow.no_domain.text')}{' '}
          <button class="text-button" type="button" onClick={() => showOnboarding(projectId)}>
            {t('flow.no_domain.way')}
          </button>
        </>
      )
    case 'cap_reached':
      return <>{t('flow.cap_reached.text', { count: trouble.limit })}</>
    case 'cap_near':
      return <>{t('flow.cap_near.text', { usage: trouble.usage, limit: trouble.limit })}</>
    case 'bounces_critical':
    case 'bounces_warning':
      return <Way text="flow.bounces.text" way="flow.bounces.way" status="BOUNCED" />
    case 'complaints_critical':
    case 'complaints_warning':
      return <Way text="flow.complaints.text" way="flow.complaints.way" status="COMPLAINED" />
    case 'domain_unverified':
      return <>{t('flow.domain_unverified.text')}</>
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
  text: 'flow.bounces.text' | 'flow.complaints.text'
  way: 'flow.bounces.way' | 'flow.complaints.way'
  status: string
}

function Way({ text, way, status }: WayProps) {
  return (
    <>
      {t(text)} <a href={link(emailsPath({ status }))}>{t(way)}</a>
    </>
  )
}

type FailedChecksProps = {
  checks: Extract<Trouble, { kind: 'checks_failed' }>['checks']
  isOpen: boolean
}

/** The words of the checks are the server's, in English, and name what to paste. */
function FailedChecks({ checks, isOpen }: FailedChecksProps) {
  return (
    <details open={isOpen}>
      <summary>{checks.map(({ id }) => codeText('check', id) ?? id).join(', ')}</summary>
      <ul lang="en">
        {checks.map(({ id, evidence, fix }) => (
          <li key={id}>
            {evidence}
            {fix !== null && <code class="code">{fix}</code>}
          </li>
        ))}
      </ul>
    </details>
  )
}

/** What it says, how much waits, until when, and one email to read. */
function SlowReceiver({ receiver }: { receiver: ReceiverStanding }) {
  const { receiver: name, state, affected, reply, until } = receiver
  const one = useWaitingEmail(receiver)
  const shown = state as 'closed' | 'held' | 'slowed'
  return (
    <p>
      <b>{t(`flow.${shown}.title`, { name: receiverName(name) })}</b>{' '}
      <a href={link(emailsPath({ state: 'waiting', receiver: name }))}>
        {t('flow.waits', { count: affected })}
      </a>
      {reply !== null && state !== 'held' && ` ${t('flow.after', { reply: replyText(reply) })}`}.{' '}
      {state === 'held'
        ? t('flow.held.text')
        : until === null
          ? t('flow.again', { count: affected })
          : t('flow.until', { time: shortTime(until, new Date(), place()) })}{' '}
      {one !== undefined && <a href={link(`/emails/${one}`)}>{t('flow.one')}</a>}
    </p>
  )
}

/** The words of the receiver; the codes stand before them unless they begin with them. */
function replyText({ code, enhancedCode, text }: NonNullable<ReceiverStanding['reply']>): string {
  return [code === null ? '' : String(code), enhancedCode ?? ''].reduceRight(
    (words, one) => (one === '' || words.startsWith(one) ? words : `${one} ${words}`),
    text,
  )
}

/** The id of one email that waits for the receiver. */
function useWaitingEmail({ domains }: ReceiverStanding): string | undefined {
  const [domain] = domains
  const { data } = useCall(
    'GET /emails',
    { query: oneWaiting(domain) },
    { isEnabled: domain !== undefined },
  )
  return data?.data[0]?.id
}
