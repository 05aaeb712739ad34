// Numbers and times in words, the same everywhere.

const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const SECONDS = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const EXACT = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const DAY = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" });
const SHORT_DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" });
const WHOLE = new Intl.NumberFormat("en-GB");
const COMPACT = new Intl.NumberFormat("en-GB", { notation: "compact", maximumFractionDigits: 1 });

export function clock(time) {
  return CLOCK.format(new Date(time));
}

// The time of today, of other days with the day.
export function moment(time, now = Date.now()) {
  const isToday = dayKey(time) === dayKey(now);
  return isToday ? clock(time) : `${SHORT_DAY.format(new Date(time))}, ${clock(time)}`;
}

// With seconds.
export function instant(time, now = Date.now()) {
  const isToday = dayKey(time) === dayKey(now);
  return isToday ? SECONDS.format(new Date(time)) : `${SHORT_DAY.format(new Date(time))}, ${SECONDS.format(new Date(time))}`;
}

export function exact(time) {
  return EXACT.format(new Date(time));
}

export function dayKey(time) {
  return new Date(time).toDateString();
}

export function day(time) {
  if (dayKey(time) === dayKey(Date.now())) return "Today";
  if (dayKey(time) === dayKey(Date.now() - 86_400_000)) return "Yesterday";
  return DAY.format(new Date(time));
}

export function duration(seconds) {
  if (seconds < 1) return `${Math.max(0, Math.round(seconds * 1000))} ms`;
  return seconds < 10 ? `${seconds.toFixed(1)} s` : span(seconds);
}

// Of whole seconds.
export function span(seconds) {
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return both(minutes, "m", Math.floor(seconds % 60), "s");
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? both(hours, "h", minutes % 60, "m") : both(Math.floor(hours / 24), "d", hours % 24, "h");
}

function both(many, unit, few, smaller) {
  return few === 0 ? `${many} ${unit}` : `${many} ${unit} ${few} ${smaller}`;
}

export function money(dollars, isEstimated = false) {
  const digits = dollars !== 0 && Math.abs(dollars) < 0.01 ? 4 : 2;
  return `${isEstimated ? "~" : ""}$${dollars.toFixed(digits)}`;
}

export function number(count) {
  return WHOLE.format(count);
}

export function compact(count) {
  return COMPACT.format(count);
}

export function counted(count, noun, nouns = `${noun}s`) {
  return `${number(count)} ${count === 1 ? noun : nouns}`;
}

export function bytes(size) {
  if (size < 1000) return counted(size, "byte");
  return size < 1_000_000 ? `${(size / 1000).toFixed(1)} kB` : `${(size / 1_000_000).toFixed(1)} MB`;
}

// Of the same mail there may be several.
export function attempt(number) {
  return number > 1 ? `attempt, try ${number}` : "attempt";
}

// `in_progress` as people write it.
export function plain(name) {
  return name.replaceAll("_", " ");
}

export function sentence(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

export function listed(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
