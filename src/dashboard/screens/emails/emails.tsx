/** All mail of the project, newest first, with the reason for where each email is. */
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { EMAIL_FIELDS, emailQuery, type ListFilter, NO_FILTER } from '../../logic/email-filter.ts'
import { isUnfiltered, readState, writeState } from '../../logic/url-state.ts'
import { emails as emailsTexts } from '../../text/en/emails.ts'
import { list as listTexts } from '../../text/en/list.ts'
import { addTexts, locale, t } from '../../text/text.ts'
import { SearchField } from '../../ui/filter-bar.tsx'
import { lazy } from '../../ui/lazy.tsx'
import { link } from '../../ui/link.ts'
import { List, ViewChip } from '../../ui/list.tsx'
import { Page } from '../../ui/page.tsx'
import { Suspense } from '../../ui/suspense.tsx'
import { place } from '../../ui/time.tsx'
import { useList } from '../../ui/use-list.ts'
import { useListView } from '../../ui/use-list-view.ts'
import { type EmailRow, emailColumns } from './columns.tsx'
import { Counts } from './counts.tsx'
import { Filters } from './filters.tsx'

/** Shown once in the life of a project. */
const NoMail = lazy(() => import('./no-mail.tsx'))

addTexts(emailsTexts, listTexts)

export default function Emails() {
  const { url, path, route } = useLocation()
  const search = url.slice(path.length)
  const filter = useMemo(() => readState(EMAIL_FIELDS, search), [search])
  const query = useMemo(() => emailQuery(filter, new Date(), place().timeZone), [filter])
  const isAll = isUnfiltered<typeof EMAIL_FIELDS>(filter)
  // The number of all emails is kept; that of a rare search would be found by a look at each of them.
  const asked = useMemo(() => (isAll ? query : { ...query, total: false }), [query, isAll])
  const list = useList<'GET /emails', EmailRow>('GET /emails', asked)
  const { rows } = list
  // A search and a campaign have an order of their own.
  const isByTime = filter.q === '' && filter.campaign === ''
  const columns = useMemo(() => emailColumns(isByTime), [locale(), isByTime])
  const view = useListView('emails', columns)
  const [isOpening, setOpening] = useState(false)

  const change = (part: Partial<ListFilter>) => {
    const next = { ...filter, ...part } as ListFilter
    route(`${path}${writeState(EMAIL_FIELDS, next)}`, true)
  }
  useEffect(() => {
    // Further pages are on their way while there may be another hit.
    if (!isOpening || !list.isReady || (list.hasMore && rows.length < 2)) return
    setOpening(false)
    const [only] = rows
    if (rows.length === 1 && only !== undefined) route(link(`/emails/${only.id}`))
  }, [isOpening, list.isReady, list.hasMore, rows])

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
        <ViewChip view={view} />
      </search>
      <List
        list={list}
        label={t('emails.table')}
        view={view}
        isUnfiltered={isAll}
        filterText={t('emails.filtered')}
        onClear={() => change(NO_FILTER)}
        empty={
          <Suspense>
            <NoMail />
          </Suspense>
        }
        foot={
          <>
            <Counts {...{ filter, query, path }} isReady={list.isReady} />
            <span>{t('emails.kept')}</span>
          </>
        }
      />
    </Page>
  )
}
