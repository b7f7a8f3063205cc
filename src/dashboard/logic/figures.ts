/** The five figures of the overview, each with its change against the range before. */

export const SHOWN_FIGURES = ['sent', 'delivered', 'opened', 'clicked', 'complained'] as const
export type FigureName = (typeof SHOWN_FIGURES)[number]

type Metrics = {
  sent: number
  deliveryRate: number
  openRate: number
  clickRate: number
  complaintRate: number
}

/**
 * `value`: a count, or percent of the emails sent; undefined where nothing was sent, because a rate of nothing is
 * unknown. `change`: percent for the count, points for rates; undefined without a range to compare with.
 */
export type ShownFigure = {
  figure: FigureName
  value: number | undefined
  change: number | undefined
  /** Whether the change is welcome. */
  mood: 'good' | 'bad' | 'same'
}

const RATES = {
  delivered: 'deliveryRate',
  opened: 'openRate',
  clicked: 'clickRate',
  complained: 'complaintRate',
} as const

export function compareFigures(current: Metrics, previous: Metrics): ShownFigure[] {
  return SHOWN_FIGURES.map((figure) => {
    if (figure === 'sent') {
      const change =
        previous.sent === 0 ? undefined : (100 * (current.sent - previous.sent)) / previous.sent
      return { figure, value: current.sent, change, mood: moodOf(change, 1) }
    }
    const rate = RATES[figure]
    const value = current.sent === 0 ? undefined : current[rate]
    const change = value === undefined || previous.sent === 0 ? undefined : value - previous[rate]
    return { figure, value, change, mood: moodOf(change, figure === 'complained' ? -1 : 1) }
  })
}

function moodOf(change: number | undefined, welcome: 1 | -1): ShownFigure['mood'] {
  if (change === undefined || Math.abs(change) < 0.005) return 'same'
  return change * welcome > 0 ? 'good' : 'bad'
}

/** The states of emails that a figure counts, for the list of emails. */
export const FIGURE_STATUSES: Readonly<Record<FigureName, string>> = {
  sent: 'SENT,DELIVERED,OPENED,CLICKED,BOUNCED,COMPLAINED',
  delivered: 'DELIVERED,OPENED,CLICKED,COMPLAINED',
  opened: 'OPENED,CLICKED',
  clicked: 'CLICKED',
  complained: 'COMPLAINED',
}
