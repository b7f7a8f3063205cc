/** In the chip of the dates: a range that ends now, or two days of one's own. */
import { useState } from 'preact/hooks'
import { type ListFilter, RANGES } from '../../logic/email-filter.ts'
import { parts as partTexts } from '../../text/en/parts.ts'
import { addTexts, t } from '../../text/text.ts'
import Menu from '../../ui/menu.tsx'
import { place } from '../../ui/time.tsx'

addTexts(partTexts)

type Dates = Pick<ListFilter, 'range' | 'from' | 'to'>

export default function DatesMenu(props: Dates & { onChoose(dates: Partial<Dates>): void }) {
  const { range, from, to, onChoose } = props
  return (
    <>
      <Menu
        label={t('emails.dates')}
        choices={RANGES.map((value) => ({ value, label: t(`emails.range.${value}`) }))}
        chosen={[range]}
        onChoose={(value) => onChoose(value === range ? {} : { range: value as Dates['range'] })}
      />
      <OwnDates {...{ from, to }} onDone={onChoose} />
    </>
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
