/** One attempt: the words of the receiver, what they mean, and its steps as a waterfall. */
import { useState } from 'preact/hooks'
import { base } from '../../api/client.ts'
import { duration } from '../../logic/format.ts'
import { type Attempt, type AttemptStep, failedStep, replyText } from '../../logic/story.ts'
import type { Tone } from '../../logic/tone.ts'
import { visible } from '../../logic/visible.ts'
import { classes } from '../../text/en/classes.ts'
import { addTexts, codeText, locale, t } from '../../text/text.ts'

addTexts(classes)

export function Said({ attempt }: { attempt: Attempt }) {
  const { reply, error, class: name, tls, host, address } = attempt
  const words = replyText(reply) ?? error
  const title = name === null ? undefined : codeText('class', name)
  const meaning = name === null ? undefined : codeText('meaning', name)
  const peer = [host, address === null ? null : `[${address}]`, tls].filter((part) => part !== null)
  const isGood = attempt.result === 'delivered' || attempt.result === 'relayed'
  return (
    <>
      {words !== null && (
        <blockquote class={`words ${isGood ? 'good' : ''}`}>{visible(words)}</blockquote>
      )}
      {meaning !== undefined && !isGood && (
        <p class="small">
          <b>{title}.</b> {meaning}{' '}
          {name === 'unknown' && <a href={`${base}/docs/guide/feedback`}>{t('shell.guide')}</a>}
        </p>
      )}
      {peer.length > 0 && <p class="xs muted mono">{visible(peer.join(' '))}</p>}
      {attempt.maybeDelivered && <p class="small">{t('act.maybe')}</p>}
    </>
  )
}

type StepsProps = {
  steps: readonly AttemptStep[]
  number: number
  /** The attempt in milliseconds. */
  total: number
  tone: Tone
  isOpen: boolean
}

export function Steps({ steps, number, total, tone, isOpen }: StepsProps) {
  const [isShown, setShown] = useState(isOpen)
  if (steps.length === 0) return null
  const failed = tone === 'good' ? undefined : failedStep(steps)
  const end = Math.max(1, total, ...steps.map(({ at, durationMs }) => at + durationMs))
  return (
    <details
      class="attempt-steps"
      open={isShown}
      onToggle={({ currentTarget }) => setShown(currentTarget.open)}
    >
      <summary class="small">{t('story.steps', { count: steps.length })}</summary>
      <section
        class="scroll"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must take the focus.
        tabIndex={0}
        aria-label={t('story.steps.of', { count: number })}
      >
        <table class="protocol">
          <thead>
            <tr>
              <th scope="col">{t('story.step')}</th>
              <th scope="col" class="wf">
                {duration(end, locale())}
              </th>
              <th scope="col">{t('story.step.answer')}</th>
            </tr>
          </thead>
          <tbody>
            {steps.map((step, index) => (
              <tr key={index}>
                <td>{codeText('step', step.step) ?? step.step}</td>
                <td class="wf">
                  <Bar {...{ step, end }} isBad={step === failed} />
                </td>
                <td class="wrap mono xs">{visible(answerOf(step))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  )
}

function Bar({ step, end, isBad }: { step: AttemptStep; end: number; isBad: boolean }) {
  const label = t('story.step.span', {
    from: duration(step.at, locale()),
    time: duration(step.durationMs, locale()),
  })
  return (
    <svg viewBox={`0 0 ${end} 8`} preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      <rect
        x={step.at}
        width={Math.max(step.durationMs, end / 100)}
        height="8"
        class={isBad ? 'bar3' : 'bar'}
      />
    </svg>
  )
}

function answerOf({ host, address, answer }: AttemptStep): string {
  const peer = [host, address === null ? null : `[${address}]`].filter((part) => part !== null)
  return [peer.join(' '), answer].filter((part) => part !== null && part !== '').join('\n')
}
