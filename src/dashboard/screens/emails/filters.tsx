/** The chips above the list of emails. */
import { useRef, useState } from 'preact/hooks'
import { useCall } from '../../api/queries.ts'
import {
  chosenStates,
  FILTER_STATES,
  type ListFilter,
  RANGES,
  SOURCES,
  withStates,
} from '../../logic/email-filter.ts'
import { t } from '../../text/text.ts'
import { Chip, ChoiceChip, ClearButton } from '../../ui/filter-bar.tsx'
import { Menu } from '../../ui/menu.tsx'
import { Failed, Loading } from '../../ui/state.tsx'
import { place } from '../../ui/time.tsx'

type FiltersProps = { filter: ListFilter; onChange(change: Partial<ListFilter>): void }

export function Filters({ filter, onChange }: FiltersProps) {
  return (
    <>
      <ChoiceChip
        label={t('emails.state')}
        choices={FILTER_STATES.map((value) => ({ value, label: t(`email.${value}`) }))}
        chosen={chosenStates(filter)}
        isMany
        onChange={(chosen) => onChange(withStates(filter, chosen))}
      />
      <ChoiceChip
        label={t('emails.source')}
        choices={SOURCES.map((value) => ({ value, label: t(`emails.source.${value}`) }))}
        chosen={filter.source === '' ? [] : [filter.source]}
        onChange={([source = '']) => onChange({ source })}
      />
      <CampaignChip filter={filter} onChange={onChange} />
      <ReceiverChip filter={filter} onChange={onChange} />
      <DatesChip filter={filter} onChange={onChange} />
    </>
  )
}

function CampaignChip({ filter: { campaign }, onChange }: FiltersProps) {
  const named = useCall(
    'GET /campaigns/{id}',
    { params: { id: campaign } },
    { isEnabled: campaign !== '' },
  )
  const shown = campaign === '' ? undefined : (named.data?.data.name ?? campaign.slice(0, 8))
  return (
    <Chip label={t('emails.campaign')} shown={shown} class="p2">
      {(close) => (
        <>
          <Campaigns
            chosen={campaign}
            onChoose={(id) => {
              onChange({ campaign: id === campaign ? '' : id })
              close()
            }}
          />
          <ClearButton
            isShown={campaign !== ''}
            onClear={() => {
              onChange({ campaign: '' })
              close()
            }}
          />
        </>
      )}
    </Chip>
  )
}

/** The campaigns that were made last; the ones before are found from their own page. */
function Campaigns({ chosen, onChoose }: { chosen: string; onChoose(id: string): void }) {
  const { data, error, refetch } = useCall('GET /campaigns', { query: { limit: 50 } })
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading rows={3} />
  if (data.data.length === 0) return <p class="small muted">{t('emails.noCampaigns')}</p>
  return (
    <Menu
      label={t('emails.campaign')}
      choices={data.data.map(({ id, name }) => ({ value: id, label: name }))}
      chosen={[chosen]}
      onChoose={onChoose}
    />
  )
}

function ReceiverChip({ filter: { receiver, domain }, onChange }: FiltersProps) {
  const shown = receiver === '' ? domain : receiver
  return (
    <Chip label={t('emails.receiver')} shown={shown === '' ? undefined : shown} class="p2">
      {(close) => {
        const choose = (part: Partial<ListFilter>) => {
          onChange({ receiver: '', domain: '', ...part })
          close()
        }
        return (
          <>
            <Receivers
              chosen={receiver}
              onChoose={(name) => choose({ receiver: name === receiver ? '' : name })}
            />
            <DomainForm domain={domain} onDone={(chosen) => choose({ domain: chosen })} />
            <ClearButton isShown={shown !== ''} onClear={() => choose({})} />
          </>
        )
      }}
    </Chip>
  )
}

/** The providers to which mail of the last 30 days went. Without them, the domain can still be written. */
function Receivers({ chosen, onChoose }: { chosen: string; onChoose(name: string): void }) {
  const { data, error } = useCall('GET /analytics/deliverability')
  if (error !== null) return null
  if (data === undefined) return <Loading rows={2} />
  return (
    <Menu
      label={t('emails.receiver')}
      choices={data.providers.map(({ provider }) => ({ value: provider, label: provider }))}
      chosen={[chosen]}
      onChoose={onChoose}
    />
  )
}

function DomainForm({ domain, onDone }: { domain: string; onDone(domain: string): void }) {
  const field = useRef<HTMLInputElement>(null)
  const read = () => (field.current?.value ?? '').trim().replace(/^.*@/, '').toLowerCase()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        onDone(read())
      }}
    >
      <label>
        <span class="small">{t('emails.domain')}</span>
        <input
          ref={field}
          class="input"
          defaultValue={domain}
          placeholder="example.com"
          pattern="(.*@)?[^\s@.]+(\.[^\s@.]+)+"
        />
      </label>
      <button class="btn" type="submit">
        {t('filter.apply')}
      </button>
    </form>
  )
}

function DatesChip({ filter: { range, from, to }, onChange }: FiltersProps) {
  const isOwn = from !== '' || to !== ''
  const own = isOwn ? `${from} – ${to}` : undefined
  const shown = range === '' ? own : t(`emails.range.${range as (typeof RANGES)[number]}`)
  return (
    <Chip label={t('emails.dates')} shown={shown}>
      {(close) => (
        <>
          <Menu
            label={t('emails.dates')}
            choices={RANGES.map((value) => ({ value, label: t(`emails.range.${value}`) }))}
            chosen={[range]}
            onChoose={(value) => {
              onChange({ range: value === range ? '' : value, from: '', to: '' })
              close()
            }}
          />
          <OwnDates
            {...{ from, to }}
            onDone={(dates) => {
              onChange({ range: '', ...dates })
              close()
            }}
          />
          <ClearButton
            isShown={shown !== undefined}
            onClear={() => {
              onChange({ range: '', from: '', to: '' })
              close()
            }}
          />
        </>
      )}
    </Chip>
  )
}

type OwnDatesProps = {
  from: string
  to: string
  onDone(dates: { from: string; to: string }): void
}

function OwnDates(props: OwnDatesProps) {
  const [from, setFrom] = useState(props.from)
  const [to, setUntil] = useState(props.to)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        props.onDone({ from, to })
      }}
    >
      <label>
        <span class="small">{t('emails.from')}</span>
        <input
          class="input"
          type="date"
          value={from}
          max={to}
          onInput={({ currentTarget }) => setFrom(currentTarget.value)}
        />
      </label>
      <label>
        <span class="small">{t('emails.until')}</span>
        <input
          class="input"
          type="date"
          value={to}
          min={from}
          onInput={({ currentTarget }) => setUntil(currentTarget.value)}
        />
      </label>
      <p class="xs muted">{t('emails.zone', { zone: place().timeZone })}</p>
      <button class="btn" type="submit">
        {t('filter.apply')}
      </button>
    </form>
  )
}
