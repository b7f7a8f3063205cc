/** What happened, from what comes next down to the beginning. */
import type { ComponentChildren } from 'preact'
import { duration } from '../../logic/format.ts'
import { suppressionText } from '../../logic/reason.ts'
import { type StoryItem, storyOf } from '../../logic/story.ts'
import type { Tone } from '../../logic/tone.ts'
import { visible } from '../../logic/visible.ts'
import { codeText, locale, t, tx } from '../../text/text.ts'
import { Time } from '../../ui/time.tsx'
import { Said, Steps } from './attempt.tsx'
import type { EmailRecord } from './record.ts'
import type { SuppressionState } from './use-suppression.ts'

type StoryProps = { email: EmailRecord; suppression: SuppressionState }

export function Story({ email, suppression: { record } }: StoryProps) {
  const { suppressedSince } = (email.reasonData ?? {}) as { suppressedSince?: string | null }
  const isCause = record?.emailId === email.id
  const items = storyOf(email, isCause ? (record?.createdAt ?? null) : (suppressedSince ?? null))
  const last = items.find(({ kind }) => kind === 'attempt')
  return (
    <ol class="line">
      {items.map((item) => (
        <Item
          key={`${item.kind} ${item.at}`}
          {...{ item, email }}
          isOpen={item === last}
          reason={isCause ? record?.reason : undefined}
        />
      ))}
    </ol>
  )
}

type ItemProps = {
  item: StoryItem
  email: EmailRecord
  isOpen: boolean
  reason: string | undefined
}

function Item({ item, email, isOpen, reason }: ItemProps) {
  switch (item.kind) {
    case 'next':
      return (
        <Entry tone="next" title={t('story.next', { count: item.number })} at={item.at}>
          {null}
        </Entry>
      )
    case 'attempt': {
      const { attempt, number, steps, tone, at } = item
      const result = codeText('story.result', attempt.result) ?? attempt.result
      return (
        <Entry
          tone={tone}
          title={t('story.attempt.titled', { count: number, result })}
          at={at}
          took={duration(attempt.durationMs, locale())}
        >
          <Said attempt={attempt} />
          <Steps {...{ steps, number, isOpen }} total={attempt.durationMs} tone={tone} />
        </Entry>
      )
    }
    case 'report': {
      const { attempt, tone, at } = item
      const name = attempt.result.replace('reported-', '')
      const result = codeText('story.result', name) ?? name
      return (
        <Entry tone={tone} title={t('story.report', { result })} at={at}>
          {attempt.finalRecipient !== null && (
            <p class="small muted">
              {t('story.report.about', { address: visible(attempt.finalRecipient) })}
            </p>
          )}
          <Said attempt={attempt} />
        </Entry>
      )
    }
    case 'opened':
      return (
        <Entry tone="good" title={t('story.opened', { count: item.count })} at={item.at}>
          {item.count > 1 && (
            <p class="small muted">
              {tx('story.firstAt', { at: <Time at={item.first} form="second" /> })}
            </p>
          )}
        </Entry>
      )
    case 'clicked':
      return (
        <Entry tone="good" title={t('story.clicked', { count: item.count })} at={item.at}>
          <ul class="small links">
            {item.links.map(({ link, count }) => (
              <li key={link}>
                {/* Words of the mail: shown, and not a link, because it may lead anywhere. */}
                <span class="mono xs">{visible(link)}</span> <span class="muted">{count}</span>
              </li>
            ))}
          </ul>
        </Entry>
      )
    case 'machines':
      return (
        <Entry tone="off" title={t('story.machines')} at={item.at} hasTime={false}>
          <p class="small muted">
            {t('story.machines.text', { opens: item.opens, clicks: item.clicks })}
          </p>
        </Entry>
      )
    case 'event':
      return <Entry tone={item.tone} title={t(`story.${item.name}`)} at={item.at} />
    case 'suppressed':
      return (
        <Entry tone="bad" title={t('story.suppressed')} at={item.at}>
          {reason !== undefined && <p class="small muted">{t(suppressionText(reason))}</p>}
        </Entry>
      )
    case 'accepted':
      return <Entry tone="good" title={t(`story.accepted.${email.sourceType}`)} at={item.at} />
  }
}

type EntryProps = {
  tone: Tone | 'next'
  title: string
  at: string
  took?: string
  hasTime?: boolean
  children?: ComponentChildren
}

function Entry({ tone, title, at, took, hasTime = true, children }: EntryProps) {
  return (
    <li class={tone}>
      <p class="row between">
        <b>{title}</b>
        {hasTime && (
          <span class="muted small">
            <Time at={at} form={tone === 'next' ? 'minute' : 'second'} />
            {tone === 'next' && (
              <>
                {', '}
                <Time at={at} form="relative" />
              </>
            )}
            {took !== undefined && `, ${took}`}
          </span>
        )}
      </p>
      {children}
    </li>
  )
}
