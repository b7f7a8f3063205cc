/** All mail of the project, newest first, with the reason for where each email is. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { EMAIL_FIELDS, type EmailFilter, emailQuery } from '../../logic/email-filter.ts'
import { isUnfiltered, readState, writeState } from '../../logic/url-state.ts'
import { t } from '../../text/text.ts'
import { SearchField } from '../../ui/filter-bar.tsx'
import { link } from '../../ui/link.ts'
import { Page } from '../../ui/page.tsx'
import { Failed, Loading, NoMatch } from '../../ui/state.tsx'
import { Table } from '../../ui/table.tsx'
import { place, Time } from '../../ui/time.tsx'
import { emailColumns } from './columns.tsx'
import { Filters, NO_FILTER } from './filters.tsx'
import { NoMail } from './no-mail.tsx'
import { useEmails } from './use-emails.ts'

/** Older data says when it was read. */
const STALE_MS = 60_000

export default function Emails() {
  const { url, path, route } = useLocation()
  const search = url.slice(path.length)
  const filter = useMemo(() => readState(EMAIL_FIELDS, search), [search])
  const query = useMemo(() => emailQuery(filter, new Date(), place().timeZone), [filter])
  const list = useEmails(query)
  const { rows, added } = list
  const [isOpening, setOpening] = useState(false)

  const change = (part: Partial<EmailFilter>) => {
    const next = { ...filter, ...part } as EmailFilter
    route(`${path}${writeState(EMAIL_FIELDS, next)}`, true)
  }
  useEffect(() => {
    if (!isOpening || !list.isReady) return
    setOpening(false)
    const [only] = rows
    if (rows.length === 1 && only !== undefined && !list.hasMore) route(link(`/emails/${only.id}`))
  }, [isOpening, list.isReady, rows])

  return (
    <Page title={t('nav.emails')} text={t('emails.lead')}>
      <search class="bar">
        <SearchField
          label={t('emails.search')}
          hint={t('emails.search.hint')}
          value={filter.q}
          onSearch={(q) => change({ q })}
          onEnter={() => setOpening(true)}
        />
        <Filters filter={filter} onChange={change} />
      </search>
      <div class="news" aria-live="polite">
        {added.count > 0 && (
          <button
            class="btn main pill"
            type="button"
            onClick={() => {
              list.showNews()
              window.scrollTo(0, 0)
            }}
          >
            {t(added.isMore ? 'emails.new.many' : 'emails.new', { count: added.count })}
          </button>
        )}
      </div>
      <Rows {...{ list, filter }} onClear={() => change(NO_FILTER)} />
    </Page>
  )
}

type RowsProps = {
  list: ReturnType<typeof useEmails>
  filter: EmailFilter
  onClear(): void
}

function Rows({ list, filter, onClear }: RowsProps) {
  const columns = useMemo(emailColumns, [t])
  const { rows, error, isReady, isDimmed } = list
  if (rows.length === 0 && error !== null) {
    return (
      <div class="body">
        <Failed error={error} onRetry={list.retry} />
      </div>
    )
  }
  if (rows.length === 0 && !isReady) {
    return (
      <div class="body">
        <Loading rows={12} />
      </div>
    )
  }
  if (rows.length === 0) {
    return isUnfiltered<typeof EMAIL_FIELDS>(filter) ? (
      <NoMail />
    ) : (
      <NoMatch filter={t('emails.filtered')} onClear={onClear} />
    )
  }
  return (
    <>
      <div class={isDimmed ? 'dimmed' : ''}>
        <Table
          label={t('emails.table')}
          columns={columns}
          rows={rows}
          idOf={({ id }) => id}
          total={list.total}
          onEnd={list.loadMore}
          isBusy={isDimmed}
        />
      </div>
      {error !== null && (
        <div class="body">
          <Failed error={error} onRetry={list.retry} />
        </div>
      )}
      <p class="bar small muted foot">
        {list.isLoadingMore && <span role="status">{t('table.more')}</span>}
        {list.isFull && list.hasMore && (
          <strong>{t('emails.narrow', { count: rows.length })}</strong>
        )}
        <span aria-live="polite">
          {list.total !== undefined && t('emails.count', { count: list.total })}
        </span>
        {Date.now() - list.asOf > STALE_MS && (
          <span>
            <AsOf at={list.asOf} />
          </span>
        )}
        <span>{t('emails.kept')}</span>
      </p>
    </>
  )
}

function AsOf({ at }: { at: number }) {
  return <Time at={new Date(at).toISOString()} />
}
