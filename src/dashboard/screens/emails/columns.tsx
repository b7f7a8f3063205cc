/** The columns of the list of emails. */
import type { Answer } from '../../api/client.ts'
import { stateOf, toneOf } from '../../logic/email-state.ts'
import { rowReason } from '../../logic/row-reason.ts'
import { visible } from '../../logic/visible.ts'
import { t } from '../../text/text.ts'
import { link } from '../../ui/link.ts'
import { PhraseText } from '../../ui/phrase.tsx'
import { Status } from '../../ui/status.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'

export type EmailRow = Answer<'GET /emails'>['data'][number]

/**
 * `isByTime`: the newest rows come first. The cells call small components as functions, so that a row is one component:
 * each costs as much as its elements, and a list that scrolls makes hundreds a second.
 */
export function emailColumns(isByTime: boolean): readonly Column<EmailRow>[] {
  return [
    { key: 'to', label: t('emails.to'), class: 'sub', show: (row) => row.recipientAddress },
    {
      key: 'subject',
      label: t('emails.subject'),
      class: 'key',
      isFixed: true,
      show: (row) => (
        <>
          <a href={link(`/emails/${row.id}`)}>
            <bdi>{row.subject === '' ? t('emails.noSubject') : visible(row.subject)}</bdi>
          </a>
          {row.isTest && <span class="mark-test">{t('emails.test')}</span>}
        </>
      ),
    },
    {
      key: 'state',
      label: t('emails.state'),
      class: 'end2',
      show: (row) => {
        const state = stateOf(row)
        return Status({ tone: toneOf(state), children: t(`email.${state}`) })
      },
    },
    {
      key: 'reason',
      label: t('emails.reason'),
      class: 'p2 muted',
      show: reasonOf,
    },
    {
      key: 'accepted',
      label: t('emails.accepted'),
      class: 'num muted end',
      isSorted: isByTime,
      show: (row) => Time({ at: row.createdAt }),
    },
    ...extraColumns(),
  ]
}

/** Hidden until they are chosen, and always on a phone. */
function extraColumns(): readonly Column<EmailRow>[] {
  const extra = { isExtra: true, class: 'p2 muted' }
  const extraEnd = { isExtra: true, class: 'p2 num muted' }
  return [
    { ...extra, key: 'from', label: t('emails.sender'), show: (row) => row.from },
    { ...extra, key: 'receiver', label: t('emails.receiver'), show: (row) => row.receiver },
    {
      ...{ ...extra, key: 'source', label: t('emails.source') },
      show: ({ sourceType, workflow }) => workflow?.name ?? t(`emails.source.${sourceType}`),
    },
    { ...extraEnd, key: 'attempts', label: t('emails.attempts'), show: (row) => row.attempts },
    {
      ...{ ...extraEnd, key: 'next', label: t('emails.nextAttempt') },
      show: ({ nextAttemptAt }) => nextAttemptAt !== null && Time({ at: nextAttemptAt }),
    },
    {
      ...{ ...extraEnd, key: 'delivered', label: t('emails.delivered') },
      show: ({ deliveredAt }) => deliveredAt !== null && Time({ at: deliveredAt }),
    },
  ]
}

function reasonOf(row: EmailRow) {
  const phrase = rowReason(row)
  // The sentence of the server has all details; it shows where the column is too narrow.
  if (phrase !== undefined) {
    return <span title={row.reason}>{PhraseText({ phrase })}</span>
  }
  return <span lang="en">{visible(row.reason)}</span>
}
