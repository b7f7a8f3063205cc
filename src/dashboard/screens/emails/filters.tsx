/** The chips above the list of emails. */
import { useCall } from '../../api/queries.ts'
import {
  chosenStates,
  FILTER_STATES,
  type ListFilter,
  type RANGES,
  SOURCES,
  withStates,
} from '../../logic/email-filter.ts'
import { t } from '../../text/text.ts'
import { Chip, ChoiceChip, ClearButton } from '../../ui/filter-bar.tsx'
import { lazy } from '../../ui/lazy.tsx'
import { Suspense } from '../../ui/suspense.tsx'

const CampaignMenu = lazy(() => import('./campaign-menu.tsx'))
const ReceiverMenu = lazy(() => import('./receiver-menu.tsx'))
const DatesMenu = lazy(() => import('./dates-menu.tsx'))

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
          <Suspense>
            <CampaignMenu
              label={t('emails.campaign')}
              empty={t('emails.noCampaigns')}
              onChoose={(id) => {
                onChange({ campaign: id })
                close()
              }}
            />
          </Suspense>
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
            <Suspense>
              <ReceiverMenu
                {...{ receiver, domain }}
                onReceiver={(name) => choose({ receiver: name === receiver ? '' : name })}
                onDomain={(chosen) => choose({ domain: chosen })}
              />
            </Suspense>
            <ClearButton isShown={shown !== ''} onClear={() => choose({})} />
          </>
        )
      }}
    </Chip>
  )
}

function DatesChip({ filter, onChange }: FiltersProps) {
  const { range, from, to } = filter
  const own = from === '' && to === '' ? undefined : `${from} – ${to}`
  const shown = range === '' ? own : t(`emails.range.${range as (typeof RANGES)[number]}`)
  return (
    <Chip label={t('emails.dates')} shown={shown}>
      {(close) => {
        const choose = (part: Partial<ListFilter>) => {
          onChange({ range: '', from: '', to: '', ...part })
          close()
        }
        return (
          <>
            <Suspense>
              <DatesMenu {...{ range, from, to }} onChoose={choose} />
            </Suspense>
            <ClearButton isShown={shown !== undefined} onClear={() => choose({})} />
          </>
        )
      }}
    </Chip>
  )
}
