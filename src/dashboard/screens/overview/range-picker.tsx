/** The range of the overview: three usual ones, or two days. It stands in the address. */

import { useId, useRef, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { dayOf, formatDate, fullTime } from '../../logic/format.ts'
import {
  findRangeFault,
  RANGE_PRESETS,
  type RangeFault,
  type ShownRange,
  toRangeDays,
  writeShownRange,
} from '../../logic/range.ts'
import { locale, t, tx } from '../../text/text.ts'
import { link } from '../../ui/link.ts'
import { place } from '../../ui/time.tsx'
import { useProject } from '../../ui/use-project.ts'

/** Of which project and time the page is. `at`: when the figures came, epoch ms; 0 before. */
export function RangeHead({ range, at }: { range: ShownRange; at: number }) {
  const name = useProject()?.name ?? ''
  if (at === 0) return <>{name}</>
  const time = formatDate('longWeekdayClock', new Date(at), place())
  const shown = <span title={fullTime(new Date(at).toISOString(), place())}>{time}</span>
  const values = { project: name, time: shown }
  if (range.preset !== 'custom') return <>{tx(`range.head.${range.preset}`, values)}</>
  const { from, to } = range
  return <>{tx('range.head.custom', { ...values, from: dayName(from), to: dayName(to) })}</>
}

export function RangePicker({ range }: { range: ShownRange }) {
  return (
    <div class="row">
      <nav class="seg text" aria-label={t('range.label')}>
        {RANGE_PRESETS.map((preset) => (
          <a
            key={preset}
            href={link('/') + writeShownRange({ preset })}
            aria-current={range.preset === preset ? 'true' : undefined}
          >
            {t(`range.${preset}`)}
          </a>
        ))}
      </nav>
      <CustomRange range={range} />
    </div>
  )
}

function CustomRange({ range }: { range: ShownRange }) {
  const { route } = useLocation()
  const [fault, setFault] = useState<RangeFault>()
  const element = useRef<HTMLDetailsElement>(null)
  const faultId = useId()
  const now = new Date()
  const today = dayOf(now, place().timeZone)
  const { from, to } = toRangeDays(range, now, place())
  const close = () => element.current?.removeAttribute('open')
  const show = (event: SubmitEvent) => {
    event.preventDefault()
    const values = new FormData(event.currentTarget as HTMLFormElement)
    const chosen = { from: String(values.get('from')), to: String(values.get('to')) }
    const found = findRangeFault(chosen.from, chosen.to, today)
    setFault(found)
    if (found !== undefined) return
    close()
    route(link('/') + writeShownRange({ preset: 'custom', ...chosen }))
  }
  return (
    <details
      class="popover"
      ref={element}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        close()
        element.current?.querySelector('summary')?.focus()
      }}
    >
      <summary class={`btn ${range.preset === 'custom' ? 'on' : ''}`}>
        {range.preset === 'custom' ? `${dayName(from)} – ${dayName(to)}` : t('range.custom')}
      </summary>
      <form class="stack" onSubmit={show} noValidate>
        {(['from', 'to'] as const).map((name) => (
          <label key={`${name} ${from} ${to}`} class="field">
            <span class="label">{t(`range.${name}`)}</span>
            <input
              class="input"
              type="date"
              name={name}
              max={name === 'from' ? today : undefined}
              defaultValue={name === 'from' ? from : to}
              aria-invalid={fault === undefined ? undefined : 'true'}
              aria-describedby={faultId}
            />
          </label>
        ))}
        <p id={faultId} class="small t-bad" role="alert">
          {fault === undefined ? '' : t(`range.${fault}`)}
        </p>
        <button class="btn main" type="submit">
          {t('range.show')}
        </button>
      </form>
    </details>
  )
}

/** A day (YYYY-MM-DD) in words. */
function dayName(day: string): string {
  const date = new Date(`${day}T00:00:00Z`)
  return formatDate('day', date, { locale: locale(), timeZone: 'UTC' })
}
