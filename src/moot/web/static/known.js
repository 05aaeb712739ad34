// What is known: who visits, which instance is shown, how it stands as it was seen last, whether the connection holds.
// Whoever shows something of it is told when it changes, and whoever follows events hears each.

const shows = new Set();
const hearers = new Set();

export const known = {
  session: null,
  instance: "",
  overview: null,
  connection: "connecting",
  skew: 0, // how much later it is at the server, in milliseconds
  again: async () => {}, // looks once more at the overview

  get mayChange() {
    return this.session?.may_change === true;
  },

  // The person who sits here.
  get me() {
    return "human";
  },

  // The server's time.
  now() {
    return Date.now() + this.skew;
  },
};

export function show(showing) {
  shows.add(showing);
  return () => shows.delete(showing);
}

export function change(facts) {
  Object.assign(known, facts);
  for (const showing of [...shows]) showing();
}

export function hear(hearer) {
  hearers.add(hearer);
  return () => hearers.delete(hearer);
}

export function spread(event) {
  for (const hearer of [...hearers]) hearer(event);
}
