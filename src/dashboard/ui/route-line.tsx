/** The route line: where all mail of a thing is, in one bar. What no part names is the rest. */
import { layoutShares } from '../logic/shares.ts'

/** `tone`: d delivered or done, w waiting, b bounced, o opened. */
type RoutePart = { tone: 'd' | 'w' | 'b' | 'o'; value: number }

type RouteLineProps = {
  parts: readonly RoutePart[]
  whole: number
  /** What the bar says, as a sentence. */
  label: string
  isBig?: boolean
}

export function RouteLine({ parts, whole, label, isBig = false }: RouteLineProps) {
  const known = parts.reduce((sum, { value }) => sum + value, 0)
  const rest = Math.max(0, whole - known)
  const shares = layoutShares([...parts.map(({ value }) => value), rest])
  return (
    <svg
      class={`route ${isBig ? 'big' : ''}`}
      viewBox="0 0 100 1"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {parts.map(({ tone }, index) => (
        <rect
          key={tone}
          class={tone}
          x={shares[index]?.start ?? 0}
          width={shares[index]?.size ?? 0}
          height="1"
        />
      ))}
    </svg>
  )
}
