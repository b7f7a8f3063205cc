/** The five figures, each with its change, its definition, and the emails that it counts. */
import { useId } from 'preact/hooks'
import { type EmailLink, emailsPath } from '../../logic/email-links.ts'
import { compareFigures, FIGURE_STATUSES, type ShownFigure } from '../../logic/figures.ts'
import { formatDigits } from '../../logic/format.ts'
import type { ShownRange } from '../../logic/range.ts'
import { locale, t } from '../../text/text.ts'
import { link } from '../../ui/link.ts'
import { Panel } from '../../ui/panel.tsx'
import { type AskedRange, useOverview } from './facts.ts'

const MOODS = { good: 'up', bad: 'down', same: '' } as const

type FiguresProps = { asked: AskedRange; range: ShownRange; days: EmailLink }

export function Figures({ asked, range, days }: FiguresProps) {
  const query = useOverview(asked)
  return (
    <Panel query={query} rows={2}>
      {({ current, previous, isComplete }) => (
        <dl class="figures lead">
          {compareFigures(current, previous).map((figure) => (
            <FigureBox key={figure.figure} {...{ figure, range, days, isComplete }} />
          ))}
        </dl>
      )}
    </Panel>
  )
}

type FigureBoxProps = {
  figure: ShownFigure
  range: ShownRange
  days: EmailLink
  isComplete: boolean
}

function FigureBox({ figure, range, days, isComplete }: FigureBoxProps) {
  const id = useId()
  const { figure: name, value, mood } = figure
  const isCount = name === 'sent'
  const digits = name === 'complained' ? 2 : isCount ? 0 : 1
  return (
    <div class="figure-box">
      <dt>{t(`figure.${name}`)}</dt>
      <dd>
        {value === undefined ? (
          <span title={t('figure.unknown')}>–</span>
        ) : (
          <a
            href={link(emailsPath({ status: FIGURE_STATUSES[name], ...days }))}
            aria-describedby={id}
          >
            {formatDigits(value, locale(), digits)}
            {!isCount && <small> %</small>}
          </a>
        )}
        <p class={`delta ${isComplete ? MOODS[mood] : ''}`}>
          {isComplete ? changeText(figure, range) : t('figure.counting')}
        </p>
      </dd>
      <p class="meaning" id={id} role="tooltip">
        {t(`figure.${name}.is`)}
      </p>
    </div>
  )
}

function changeText({ figure, value, change }: ShownFigure, { preset }: ShownRange): string {
  const before = t(`range.before.${preset}`)
  if (value === undefined) return t('figure.unknown')
  if (change === undefined) return t('figure.none', { before })
  const isCount = figure === 'sent'
  const digits = isCount ? 0 : figure === 'complained' ? 2 : 1
  const show = (size: number) => formatDigits(size, locale(), digits)
  const shown = show(Math.abs(change))
  if (shown === show(0)) return t('figure.same', { before })
  const way = change > 0 ? 'more' : 'less'
  return isCount
    ? t(`figure.percent.${way}`, { value: shown, before })
    : t(`figure.points.${way}`, { value: shown })
}
