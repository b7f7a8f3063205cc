/** The postmark. It stands on sign-in, on empty pages and beside the first delivery, and nowhere else. */
import { stampText } from '../logic/stamp.ts'
import { chosenZone } from './time.tsx'

/** `at`: the instant in the mark; without one the mark has only its ring and waves. */
export function Stamp({ at }: { at?: Date }) {
  const text = at && stampText(at, chosenZone())
  return (
    <svg class="stamp" viewBox="0 0 140 96" aria-hidden="true">
      <g fill="none" stroke="currentColor" stroke-width="1.6">
        <circle cx="48" cy="48" r="40" />
        <circle cx="48" cy="48" r="27" />
        <path d="M92 30q8-6 16 0t16 0 12-1M92 42q8-6 16 0t16 0 12-1M92 54q8-6 16 0t16 0 12-1M92 66q8-6 16 0t16 0 12-1" />
      </g>
      <g fill="currentColor" text-anchor="middle">
        <text x="48" y="46" font-size="11" font-weight="650">
          {text?.day}
        </text>
        <text x="48" y="59" font-size="10">
          {text?.time}
        </text>
      </g>
      <defs>
        <path id="ring" d="M48 81.5a33.500 33.500 0 1 1 .1 0" />
      </defs>
      <text fill="currentColor" font-size="8.5" font-weight="600">
        <textPath href="#ring" textLength="206">
          PILLARBOX · PILLARBOX · PILLARBOX ·{' '}
        </textPath>
      </text>
    </svg>
  )
}
