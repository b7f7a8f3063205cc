/** Below the answer: what was tried, what comes next and when, and whether somebody must act. */
import type { ComponentChildren } from 'preact'
import { adviceFor } from '../../logic/advice.ts'
import { type EmailState, isWaiting, toneOf } from '../../logic/email-state.ts'
import { duration } from '../../logic/format.ts'
import { reasonPhrase } from '../../logic/reason.ts'
import { visible } from '../../logic/visible.ts'
import { locale, t, tx } from '../../text/text.ts'
import { tick } from '../../ui/clock.ts'
import { Icon } from '../../ui/icon.tsx'
import { Time } from '../../ui/time.tsx'
import type { EmailRecord } from './record.ts'

const NOTES = { good: 'good', warn: 'warn', bad: 'bad', live: '', off: '' } as const
const ICONS = { good: 'check', warn: 'clock', bad: 'warn', live: 'clock', off: 'cross' } as const

export function AnswerNote({ email, state }: { email: EmailRecord; state: EmailState }) {
  // The sentences name times that pass.
  tick.value
  const tone = toneOf(state)
  const { reasonCode, reason } = email
  const isUnknown = reasonPhrase(reasonCode, email.reasonData) === undefined
  const sentences: ComponentChildren[] = [
    ...(isUnknown ? [<span lang="en">{visible(reason)}</span>] : []),
    ...(isWaiting(state) ? waiting(email) : ended(email)),
    ...advice(email, state),
  ]
  if (sentences.length === 0) return null
  return (
    <div class={`answer note ${NOTES[tone]}`}>
      <Icon name={ICONS[tone]} />
      <p>
        {sentences.map((sentence, index) => (
          <span key={index}>{sentence} </span>
        ))}
      </p>
    </div>
  )
}

/** The attempts without the reports that came after them. */
function countOf({ attempts }: EmailRecord): number {
  return attempts.filter(({ result }) => !result.startsWith('reported-')).length
}

function tried(email: EmailRecord): ComponentChildren[] {
  const count = countOf(email)
  return count === 0 ? [] : [t('story.tried', { count })]
}

function waiting(email: EmailRecord): ComponentChildren[] {
  const { nextAttemptAt, giveUpAt, status } = email
  if (status === 'SENDING') return tried(email)
  // Held mail has no next attempt, and its end is not that of the attempts.
  if (nextAttemptAt === null) return tried(email)
  const isFuture = Date.parse(nextAttemptAt) > Date.now()
  const next = isFuture
    ? tx('story.nextAt', {
        at: (
          <b>
            <Time at={nextAttemptAt} form="minute" />
          </b>
        ),
        when: <Time at={nextAttemptAt} form="relative" />,
      })
    : t('story.nextNow')
  return [
    ...tried(email),
    next,
    tx('story.until', {
      at: (
        <b>
          <Time at={giveUpAt} form="minute" />
        </b>
      ),
    }),
  ]
}

function ended(email: EmailRecord): ComponentChildren[] {
  const { deliveredAt, createdAt, sourceType } = email
  const took = deliveredAt === null ? 0 : Date.parse(deliveredAt) - Date.parse(createdAt)
  return [
    ...(countOf(email) > 1 || deliveredAt === null ? tried(email) : []),
    ...(took > 0 && sourceType !== 'INBOUND'
      ? [t('story.took', { time: duration(took, locale()) })]
      : []),
  ]
}

function advice({ reasonCode, reasonData, attempts }: EmailRecord, state: EmailState) {
  const data = (reasonData ?? {}) as { cutOff?: unknown }
  const last = attempts.findLast((one) => one.class !== null)
  const text = adviceFor({ state, reasonCode, replyClass: last?.class ?? null })
  return [...(data.cutOff ? [t('act.maybe')] : []), ...(text === undefined ? [] : [t(text)])]
}
