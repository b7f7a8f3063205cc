/** The feed of a project: what happened, newest first, and each entry with all that is known of it. */
import { useMemo } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import type { Answer } from '../../api/client.ts'
import { ACTIVITY_FIELDS, FILTER_TYPES, subjectOfEntry, toneOfEntry } from '../../logic/activity.ts'
import { isUnfiltered, readState, type UrlState, writeState } from '../../logic/url-state.ts'
import { visible } from '../../logic/visible.ts'
import { activity as activityTexts } from '../../text/en/activity.ts'
import { list as listTexts } from '../../text/en/list.ts'
import { addTexts, codeText, locale, t } from '../../text/text.ts'
import { ChoiceChip } from '../../ui/filter-bar.tsx'
import { List, ViewChip } from '../../ui/list.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/state.tsx'
import { Status } from '../../ui/status.tsx'
import type { Column } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { useList } from '../../ui/use-list.ts'
import { useListView } from '../../ui/use-list-view.ts'
import { EntryDrawer } from './entry-drawer.tsx'

addTexts(activityTexts, listTexts)

type Entry = Answer<'GET /activity'>['data'][number]
type Filter = UrlState<typeof ACTIVITY_FIELDS>

const NO_FILTER = { type: [], contact: '' } as const

export default function Activity() {
  const { url, path, route } = useLocation()
  const search = url.slice(path.length)
  const filter = useMemo(() => readState(ACTIVITY_FIELDS, search), [search])
  const { entry, ...narrowing } = filter
  const list = useList<'GET /activity', Entry>('GET /activity', {
    fields: 'summary',
    ...(filter.type.length > 0 && { types: filter.type.join(',') }),
    ...(filter.contact !== '' && { contactId: filter.contact }),
  })
  const address = (part: Partial<Filter>) => {
    return `${path}${writeState(ACTIVITY_FIELDS, { ...filter, ...part } as Filter)}`
  }
  const change = (part: Partial<Filter>) => route(address(part), true)
  const columns = useMemo(() => listColumns((id) => address({ entry: id })), [locale(), search])
  const view = useListView('activity', columns)
  return (
    <Page title={t('nav.activity')} text={t('activity.lead')}>
      <search class="bar">
        <ChoiceChip
          label={t('activity.kind')}
          choices={FILTER_TYPES.map((value) => ({ value, label: t(`type.${value}`) }))}
          chosen={filter.type}
          isMany
          onChange={(chosen) =>
            change({ type: FILTER_TYPES.filter((one) => chosen.includes(one)) })
          }
        />
        {filter.contact !== '' && (
          <button class="chip on" type="button" onClick={() => change({ contact: '' })}>
            {t('activity.oneContact')} ×
          </button>
        )}
        <ViewChip view={view} />
      </search>
      <List
        list={list}
        label={t('activity.table')}
        view={view}
        isUnfiltered={isUnfiltered(narrowing as unknown as Filter)}
        filterText={t('activity.filtered')}
        onClear={() => change(NO_FILTER)}
        empty={
          <Empty title={t('activity.none')}>
            <p class="muted">{t('activity.none.text')}</p>
          </Empty>
        }
      />
      {entry !== '' && list.isReady && (
        <EntryDrawer
          entry={list.rows.find(({ id }) => id === entry)}
          onClose={() => change({ entry: '' })}
        />
      )}
    </Page>
  )
}

function listColumns(openEntry: (id: string) => string): readonly Column<Entry>[] {
  return [
    {
      key: 'what',
      label: t('activity.what'),
      class: 'end2',
      show: (entry) => (
        <Status tone={toneOfEntry(entry)}>{codeText('type', entry.type) ?? entry.type}</Status>
      ),
    },
    {
      key: 'about',
      label: t('activity.about'),
      class: 'key',
      isFixed: true,
      show: (entry) => (
        <a href={openEntry(entry.id)}>{visible(subjectOfEntry(entry)) || t('activity.unnamed')}</a>
      ),
    },
    { key: 'who', label: t('activity.who'), class: 'sub', show: (entry) => entry.contactEmail },
    {
      key: 'when',
      label: t('activity.when'),
      class: 'num muted end',
      isSorted: true,
      show: (entry) => <Time at={entry.timestamp} />,
    },
  ]
}
