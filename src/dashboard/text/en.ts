/** English, from which the other languages are translated. One file for each part of the dashboard. */
import { account } from './en/account.ts'
import { activity } from './en/activity.ts'
import { chart } from './en/chart.ts'
import { checks } from './en/checks.ts'
import { classes } from './en/classes.ts'
import { combobox } from './en/combobox.ts'
import { door } from './en/door.ts'
import { emails } from './en/emails.ts'
import { first } from './en/first.ts'
import { form } from './en/form.ts'
import { keys } from './en/keys.ts'
import { list } from './en/list.ts'
import { overview } from './en/overview.ts'
import { palette } from './en/palette.ts'
import { parts } from './en/parts.ts'
import { reasons } from './en/reasons.ts'
import { resettingTexts } from './en/resetting.ts'
import { setup } from './en/setup.ts'
import { shell } from './en/shell.ts'
import { spoken } from './en/spoken.ts'
import { story } from './en/story.ts'
import { suppress } from './en/suppress.ts'
import { tray } from './en/tray.ts'
import { view } from './en/view.ts'

export const en = {
  ...shell,
  ...palette,
  ...door,
  ...form,
  ...list,
  ...setup,
  ...checks,
  ...overview,
  ...chart,
  ...first,
  ...emails,
  ...spoken,
  ...story,
  ...reasons,
  ...classes,
  ...activity,
  ...suppress,
  ...account,
  ...view,
  ...parts,
  ...combobox,
  ...resettingTexts,
  ...keys,
  ...tray,
} as const
