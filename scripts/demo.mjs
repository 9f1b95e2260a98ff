// `npm start`: the main job, on examples/, with no key and no network.
console.log("nothing to show yet");
