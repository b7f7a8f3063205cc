/** Below the list: how many emails of the filter have each state. The rows do not wait for it. */
import type { Answer } from '../../api/client.ts'
import { failureOf, useCall } from '../../api/queries.ts'
import { statusCounts } from '../../logic/email-counts.ts'
import { EMAIL_FIELDS, type EmailQuery, type ListFilter } from '../../logic/email-filter.ts'
import { formatNumber } from '../../logic/format.ts'
import { writeState } from '../../logic/url-state.ts'
import { locale, t } from '../../text/text.ts'

/** Counts are dearer than rows, and change less. */
const POLL_MS = 60_000

type CountsProps = {
  filter: ListFilter
  query: EmailQuery
  /** The path of the list. */
  path: string
  /** The rows are there: they come first. */
  isReady: boolean
}

export function Counts({ filter, query, path, isReady }: CountsProps) {
  const options = { poll: POLL_MS, isEnabled: isReady }
  const counts = useCall('GET /emails/counts', { query }, options)
  return (
    <>
      {failureOf(counts) !== null && (
        <span>
          {t('emails.count.failed')}{' '}
          <button class="text-button" type="button" onClick={() => void counts.refetch()}>
            {t('state.again')}
          </button>
        </span>
      )}
      <Counted {...{ filter, path }} data={counts.data} isLoading={counts.isPending} />
    </>
  )
}

type CountedProps = Pick<CountsProps, 'filter' | 'path'> & {
  data: Answer<'GET /emails/counts'> | undefined
  isLoading: boolean
}

function Counted({ filter, path, data, isLoading }: CountedProps) {
  if (data === undefined) return isLoading ? <span>{t('emails.count.loading')}</span> : null
  if (data.counts === null) return <span>{t('emails.count.many')}</span>
  return (
    <span class="row" aria-live="polite">
      {statusCounts(data.counts, filter).map(({ state, count, part }) => (
        <a key={state} href={`${path}${writeState(EMAIL_FIELDS, { ...filter, ...part })}`}>
          {t(`email.${state}`)} {formatNumber(count, locale())}
        </a>
      ))}
    </span>
  )
}
